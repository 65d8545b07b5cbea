"""What can be said of the project world: predicates with their values, sentences and questions.

Every sentence template names the subject as ``{s}`` and the value as ``{v}``. Questions paraphrase:
none shares a run of four words with a sentence of its predicate, so that a memory cannot find a
fact by copying (a test holds this for every pair). Several sentences a predicate keep two facts of
one key from differing in their value alone.
"""

from __future__ import annotations

from msgspec import Struct

from memrot.timeline import Domain
from memrot_scenarios.lifetimes import Kind
from memrot_scenarios.words import PEOPLE, TEAMS

WINDOWS: dict[str, int] = {"OWNERSHIP": 45, "TECH": 180, "DECISION": 365, "REQUIREMENT": 730}
"""Days after which a reader of a domain wants a re-check (SCENARIOS.md, domain table)."""

DOMAINS: dict[str, Domain] = {name: Domain(window_days=days) for name, days in WINDOWS.items()}


class Predicate(Struct, frozen=True):
    domain: str
    holds: Kind
    values: tuple[str, ...]
    """Empty: the names of services."""
    texts: tuple[str, ...]
    questions: tuple[str, ...]
    past: str = ""
    """The question about its history, where one is asked."""
    many: bool = False


def _tech(holds: Kind, values: str, texts: tuple[str, ...], questions: tuple[str, ...], past: str = "") -> Predicate:
    return Predicate("TECH", holds, tuple(values.split("|")) if values else (), texts, questions, past)


def _decision(values: str, texts: tuple[str, ...], questions: tuple[str, ...], past: str = "") -> Predicate:
    return Predicate("DECISION", "decision", tuple(values.split("|")), texts, questions, past)


def _must(values: str, texts: tuple[str, ...], questions: tuple[str, ...], past: str = "") -> Predicate:
    return Predicate("REQUIREMENT", "requirement", tuple(values.split("|")), texts, questions, past)


PREDICATES: dict[str, Predicate] = {
    # --- TECH -----------------------------------------------------------------------------------
    "language": _tech(
        "dependency", "Go|Rust|Python|Kotlin|Java|TypeScript|Ruby|Scala|Elixir|Clojure",
        ("{s} is written in {v}.", "The code base of {s} is {v}.", "{v} is what {s} is implemented in."),
        ("Which programming language would a patch to {s} have to use?",
         "I want to contribute code to {s}: what language should I know?"),
        "Which programming languages has {s} gone through over time?",
    ),
    "framework": _tech(
        "dependency", "Spring|Actix|Django|Rails|Phoenix|Express|Ktor|Gin|Flask|Play|Quarkus|Axum",
        ("{s} handles its requests with the {v} framework.", "The HTTP layer of {s} is built on {v}."),
        ("What web framework does {s} rely on?", "Which framework would I read up on before touching endpoints in {s}?"),
    ),
    "test_runner": _tech(
        "dependency", "pytest|JUnit|Jest|RSpec|nextest|Kotest|ExUnit|gotestsum|Vitest|ScalaTest",
        ("Unit tests of {s} are executed by {v}.", "{s} has its test suite set up for {v}."),
        ("How do I run the tests for {s}?", "Which test tool is used on {s}?"),
    ),
    "database": _tech(
        "dependency", "Postgres|MySQL|DynamoDB|Cassandra|MongoDB|CockroachDB|SQLite|Oracle|MariaDB|Spanner",
        ("{s} keeps its data in {v}.", "Records of {s} are stored in {v}.", "{v} is the primary store behind {s}."),
        ("What database does {s} persist to?", "Which database would I query for state held by {s}?"),
        "Which databases has {s} been on, from first to last?",
    ),
    "driver": _tech(
        "dependency", "pgx|JDBC|SQLAlchemy|Prisma|Hibernate|Diesel|Ecto|Sequelize|jOOQ|Dapper",
        ("{s} reaches its tables through {v}.", "Database access in {s} goes by way of {v}."),
        ("Which ORM or driver does {s} use to talk to storage?", "What library sits between {s} and its database?"),
    ),
    "backup": _tech(
        "dependency",
        "nightly dumps|hourly snapshots|log archiving|weekly full copies|a standby replica|volume clones|object store exports",
        ("{s} is backed up with {v}.", "The backup scheme of {s} relies on {v}."),
        ("How could lost data of {s} be restored?", "If the disks of {s} died, what backups would we have?"),
    ),
    "region": _tech(
        "dependency", "Frankfurt|Dublin|Virginia|Oregon|Singapore|Mumbai|Sydney|Tokyo|Montreal|Stockholm",
        ("{s} is deployed in {v}.", "Production copies of {s} run in {v}.", "{s} has its servers in the {v} region."),
        ("In which cloud region is {s} hosted?", "Where in the world is {s} running?"),
        "Between which hosting locations has {s} moved so far?",
    ),
    "cache": _tech(
        "dependency", "Memcached|Redis|Varnish|Hazelcast|Caffeine|Ehcache|Dragonfly|Ignite",
        ("{s} caches hot reads in {v}.", "Frequent lookups in {s} are served from {v}."),
        ("What caching layer does {s} have?", "Which cache should be flushed when {s} shows outdated pages?"),
    ),
    "image": _tech(
        "image", "alpine 3.17|alpine 3.18|alpine 3.19|debian 11|debian 12|ubuntu 22.04|ubuntu 24.04|distroless 1|distroless 2|wolfi 4",
        ("Containers of {s} start from {v}.", "The Dockerfile of {s} is based on {v}."),
        ("What base image is {s} packaged on?", "On top of which base image do we build {s}?"),
        "Which base images were used for {s} up to now?",
    ),
    "toolchain": _tech(
        "pin", "bazel 6.2|bazel 7.0|gradle 8.1|gradle 8.5|cmake 3.27|cmake 3.29|pants 2.18|pants 2.20|buck 2|meson 1.3",
        ("{s} is compiled by {v}.", "Builds of {s} are pinned to {v}."),
        ("What build tool and version does {s} need?", "Which build tool should I install in order to compile {s}?"),
    ),
    "protocol": _tech(
        "dependency", "gRPC|GraphQL|REST with JSON|SOAP|Thrift|JSON-RPC|Cap'n Proto",
        ("{s} offers its API over {v}.", "Callers speak {v} with {s}."),
        ("What kind of API does {s} expose?", "Which API style must I use for calling {s}?"),
    ),
    "port": _tech(
        "dependency", "8080|8443|9000|7070|6400|5050|9443|3100|4000|8181",
        ("{s} listens on port {v}.", "Port {v} is where {s} accepts connections."),
        ("Which port should the firewall open for {s}?", "What TCP port number belongs to {s}?"),
    ),
    "logs": _tech(
        "dependency", "Loki|Splunk|Elasticsearch|Graylog|CloudWatch|Papertrail|Datadog",
        ("{s} ships its logs to {v}.", "Log lines from {s} end up in {v}."),
        ("Where can I search the logging output of {s}?", "In which logging system do I look for errors of {s}?"),
    ),
    "scheduler": _tech(
        "dependency", "Kubernetes|Nomad|ECS|plain systemd|Cloud Run|OpenShift",
        ("{s} runs under {v}.", "{v} orchestrates the processes of {s}."),
        ("What platform starts and restarts {s}?", "Which orchestrator looks after the instances of {s}?"),
    ),
    "upstream": _tech(
        "dependency", "",
        ("{s} reads its input from {v}.", "{v} feeds {s} with fresh records."),
        ("From which service does {s} get its data?", "What is the source of the data that flows into {s}?"),
    ),
    "export": _tech(
        "dependency",
        "a nightly CSV|an hourly Parquet file|a weekly spreadsheet|a daily JSON dump|a live feed|a monthly archive",
        ("{s} delivers {v} to the data warehouse.", "The warehouse receives {v} out of {s}."),
        ("What does the warehouse get sent by {s}?", "In what form does data of {s} reach analysts?"),
    ),
    "role": _tech(
        "dependency",
        "prices|customer records|stock levels|payment status|delivery dates|tax rates|user sessions|product images|discounts|invoices",
        ("{s} is the source of truth for {v}.", "The master copy of {v} lives in {s}."),
        ("What data is {s} authoritative on?", "For which kind of information should I trust {s}?"),
    ),
    "note": _tech(
        "dependency", "",
        ("{s} took over some of its naming rules from {v}.", "The layout of {s} was once copied from {v}."),
        ("Which other service served as a model when {s} was designed?", "What inspired the structure of {s}?"),
    ),
    # --- OWNERSHIP ------------------------------------------------------------------------------
    "owner": Predicate(
        "OWNERSHIP", "owner", tuple(f"team {team}" for team in TEAMS),
        ("{s} is owned by {v}.", "The code of {s} belongs to {v}.", "{v} has ownership of {s}."),
        ("Which team is responsible for {s}?", "Who has to sign off a change in {s}?"),
        "Which teams have been responsible for {s} through the years?",
    ),
    "oncall": Predicate(
        "OWNERSHIP", "roster", PEOPLE,
        ("{v} carries the pager for {s}.", "Alerts from {s} wake up {v}.", "{v} is on call for {s}."),
        ("If {s} breaks at night, whom do we phone?", "Who gets paged about outages of {s}?"),
    ),
    "lead": Predicate(
        "OWNERSHIP", "lead", PEOPLE,
        ("{v} leads the development of {s}.", "The lead developer of {s} is {v}."),
        ("Who decides on the technical direction of {s}?", "Whom should I ask about the design of {s}?"),
    ),
    "reviewer": Predicate(
        "OWNERSHIP", "member", PEOPLE,
        ("{v} reviews pull requests to {s}.", "{v} is a reviewer of {s}."),
        ("Who can look over my merge request in {s}?", "Which people approve code changes for {s}?"),
        many=True,
    ),
    "channel": Predicate(
        "OWNERSHIP", "lead", tuple(f"#{word}" for word in ("harbour", "attic", "lantern", "meadow", "anchor", "quarry", "orchard", "beacon")),
        ("Questions on {s} go to {v}.", "Support for {s} happens in {v}."),
        ("What chat channel do I use for help with {s}?", "Where do I post a question about {s}?"),
    ),
    "head": Predicate(
        "OWNERSHIP", "lead", PEOPLE,
        ("{s} is headed by {v}.", "{v} manages {s}."),
        ("Who is the boss of {s}?", "Which person runs {s}?"),
        "Who has been the boss of {s}, one after another?",
    ),
    "member": Predicate(
        "OWNERSHIP", "member", PEOPLE,
        ("{v} works in {s}.", "{v} is a member of {s}."),
        ("Who are the people in {s}?", "Which developers make up {s}?"),
        many=True,
    ),
    "chairs": Predicate(
        "OWNERSHIP", "lead", ("the security board", "the architecture board", "the hiring board", "the incident board"),
        ("{s} chairs {v}.", "{v} is presided over by {s}."),
        ("What committee does {s} run?", "Which board is {s} the head of?"),
    ),
    # --- DECISION -------------------------------------------------------------------------------
    "broker": _decision(
        "Kafka|SQS|RabbitMQ|NATS|Pulsar|ActiveMQ|Kinesis",
        ("{s} publishes its events over {v}.", "Events of {s} travel through {v}.", "We decided on {v} as the broker of {s}."),
        ("Which message queue transports what {s} emits?", "What messaging system was chosen for {s}?"),
        "What messaging systems were chosen for {s}, in order?",
    ),
    "rollout": _decision(
        "canary releases|blue-green switches|rolling updates|a weekly release train|dark launches|manual approval",
        ("{s} is released by {v}.", "New versions of {s} go out by {v}."),
        ("How is a new build of {s} brought to production?", "What deployment strategy do we follow on {s}?"),
        "How has the deployment strategy on {s} changed from year to year?",
    ),
    "auth": _decision(
        "OAuth tokens|mutual TLS|API keys|signed cookies|SAML|Kerberos|passkeys",
        ("{s} authenticates its callers by {v}.", "Access to {s} is granted on {v}."),
        ("How must a caller prove its identity to {s}?", "What login mechanism guards {s}?"),
        "Which login mechanisms guarded {s} before, and which now?",
    ),
    "format": _decision(
        "Avro|Protobuf|JSON|MessagePack|CBOR|XML|FlatBuffers",
        ("Messages of {s} are encoded as {v}.", "{s} serialises its messages to {v}."),
        ("What wire format does {s} write?", "Which serialisation did we settle on for {s}?"),
        "Which wire formats did {s} write in turn?",
    ),
    "consumer": _decision(
        "|".join(f"{word} consumers" for word in ("batch", "polling", "push", "streaming", "replaying", "sharded")),
        ("{v} pick up the events of {s}.", "Downstream of {s} we settled on {v}."),
        ("What type of consumer should process output from {s}?", "How are messages by {s} consumed?"),
    ),
    "design": _decision(
        "a modular monolith|event sourcing|plain layers|hexagonal ports|an actor model|a pipeline of workers",
        ("{s} is designed as {v}.", "The architecture of {s} follows {v}."),
        ("What architectural style was picked for {s}?", "How is {s} structured inside?"),
    ),
    # --- REQUIREMENT ----------------------------------------------------------------------------
    "latency": _must(
        "50 ms|100 ms|150 ms|200 ms|300 ms|500 ms|1 s|2 s",
        ("{s} has to answer within {v}.", "Responses of {s} may take at most {v}."),
        ("How fast must {s} be?", "What response time limit applies to {s}?"),
    ),
    "uptime": _must(
        "99%|99.5%|99.9%|99.95%|99.99%|98%",
        ("{s} must be available {v} of the time.", "The availability target of {s} is {v}."),
        ("How much downtime can {s} afford?", "What level of uptime was promised for {s}?"),
    ),
    "residency": _must(
        "the EU|Switzerland|Canada|India|Australia|Japan|Brazil",
        ("Customer data in {s} must stay inside {v}.", "{s} may not move personal data out of {v}."),
        ("To which country are the personal records of {s} confined?", "Is there a data residency rule for {s}?"),
    ),
    "retention": _must(
        "30 days|60 days|90 days|six months|one year|two years|seven years",
        ("{s} has to delete its records after {v}.", "Nothing in {s} may be kept longer than {v}."),
        ("How long are we allowed to hold on to entries in {s}?", "When must old rows be purged from {s}?"),
    ),
    "encryption": _must(
        "AES-256|ChaCha20|customer keys|hardware keys|envelope encryption|tokenisation",
        ("Data at rest in {s} must be protected with {v}.", "{s} has to encrypt its disks using {v}."),
        ("What encryption is mandatory for {s}?", "How should stored data of {s} be encrypted?"),
    ),
    "audit": _must(
        "the finance office|external auditors|the privacy officer|the works council|the regulator",
        ("Every access to {s} must be recorded for {v}.", "{s} owes an access trail to {v}."),
        ("For whom do we have to log who looked at {s}?", "Who demands an audit log of {s}?"),
    ),
    "quota": _must(
        "10 calls a second|50 calls a second|100 calls a second|500 calls a second|1000 calls a day|5000 calls a day",
        ("{s} must not let one partner make more than {v}.", "Partners of {s} are limited to {v}."),
        ("What rate limit is imposed on clients of {s}?", "How many requests may a single customer send to {s}?"),
    ),
    "payload": _must(
        "1 MB|2 MB|5 MB|10 MB|25 MB|64 KB|256 KB",
        ("Uploads to {s} must not exceed {v}.", "{s} has to reject files above {v}."),
        ("What is the largest file that {s} accepts?", "How big can an attachment for {s} be?"),
    ),
    "support": _must(
        "Android 9|Android 10|Android 12|iOS 14|iOS 15|iOS 16|Windows 10",
        ("{s} must support clients from {v} on.", "The oldest client platform for {s} is {v}."),
        ("Which old devices does {s} have to keep working with?", "What minimum operating system version is required by {s}?"),
    ),
    "accessibility": _must(
        "WCAG 2.0 A|WCAG 2.1 AA|WCAG 2.2 AA|WCAG 2.1 AAA|EN 301 549|Section 508",
        ("Pages of {s} must comply with {v}.", "{s} is bound to the accessibility level {v}."),
        ("What accessibility standard do the screens of {s} need to meet?", "Which rules for disabled users apply to {s}?"),
    ),
    "waiver": _must(
        "the quarterly penetration test|the load test|the licence scan|the code freeze|the second approval",
        ("{s} is exempt from {v} for now.", "For the time being {v} is waived on {s}."),
        ("Which obligation was {s} temporarily released from?", "Is there any exemption in force for {s}?"),
    ),
}  # fmt: skip
