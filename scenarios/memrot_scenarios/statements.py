"""What can be said of the project world: predicates with their values, sentences and questions.

Every sentence template names the subject as ``{s}`` and the value as ``{v}``. Questions paraphrase:
none shares a run of four words with a sentence of its predicate, so that a memory cannot find a
fact by copying (a test holds this for every pair). Several sentences a predicate keep two facts of
one key from differing in their value alone.
"""

from __future__ import annotations

from memrot.timeline import Domain
from memrot_scenarios.lifetimes import Kind
from memrot_scenarios.setting import Predicate
from memrot_scenarios.words import PEOPLE, TEAMS

WINDOWS: dict[str, int] = {"OWNERSHIP": 45, "TECH": 180, "DECISION": 365, "REQUIREMENT": 730}
"""Days after which a reader of a domain wants a re-check."""

DOMAINS: dict[str, Domain] = {name: Domain(window_days=days) for name, days in WINDOWS.items()}


def _tech(
    holds: Kind, values: str, texts: tuple[str, ...], questions: tuple[str, ...], past: str = ""
) -> Predicate:
    return Predicate("TECH", holds, tuple(values.split("|")) if values else (), texts, questions, past)


def _decision(values: str, texts: tuple[str, ...], questions: tuple[str, ...], past: str = "") -> Predicate:
    return Predicate("DECISION", "decision", tuple(values.split("|")), texts, questions, past)


def _must(values: str, texts: tuple[str, ...], questions: tuple[str, ...]) -> Predicate:
    return Predicate("REQUIREMENT", "requirement", tuple(values.split("|")), texts, questions)


# fmt: off
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
        ("{s} serves requests with the {v} framework.", "The web framework of {s} is {v}."),
        ("What web framework does {s} rely on?", "Which framework handles requests in {s}?"),
    ),
    "test_runner": _tech(
        "dependency", "pytest|JUnit|Jest|RSpec|nextest|Kotest|ExUnit|gotestsum|Vitest|ScalaTest",
        ("Unit tests of {s} are executed by {v}.", "The test suite of {s} runs on {v}."),
        ("How do I run the tests for {s}?", "Which test tool executes the suite in {s}?"),
    ),
    "database": _tech(
        "dependency", "Postgres|MySQL|DynamoDB|Cassandra|MongoDB|CockroachDB|SQLite|Oracle|MariaDB|Spanner",
        ("{s} keeps its data in {v}.", "The database of {s} is {v}.", "{v} is the database behind {s}."),
        ("What database does {s} persist to?", "Which database would I query for records of {s}?"),
        "Which databases has {s} been on, from first to last?",
    ),
    "driver": _tech(
        "dependency", "pgx|JDBC|SQLAlchemy|Prisma|Hibernate|Diesel|Ecto|Sequelize|jOOQ|Dapper",
        ("{s} talks to its database through the {v} library.",
         "Database access in {s} goes through the driver {v}."),
        ("Which database driver does {s} use?", "What library gives {s} access to its database?"),
    ),
    "backup": _tech(
        "dependency",
        "nightly dumps|hourly snapshots|log archiving|"
        "weekly full copies|a standby replica|volume clones|object store exports",
        ("{s} is backed up with {v}.", "The backup scheme of {s} relies on {v}."),
        ("How are backups for {s} made?", "If {s} lost its disks, what backups would we have?"),
    ),
    "region": _tech(
        "dependency", "Frankfurt|Dublin|Virginia|Oregon|Singapore|Mumbai|Sydney|Tokyo|Montreal|Stockholm",
        ("{s} is deployed in {v}.",
         "Production servers of {s} run in {v}.",
         "{s} has its servers in the {v} region."),
        ("In which region is {s} hosted?", "Where in the world does {s} have servers?"),
        "Between which hosting locations has {s} moved so far?",
    ),
    "cache": _tech(
        "dependency", "Memcached|Redis|Varnish|Hazelcast|Caffeine|Ehcache|Dragonfly|Ignite",
        ("{s} caches hot reads in {v}.", "The cache of {s} is {v}."),
        ("What caching layer does {s} have?", "Which cache should be flushed when {s} shows outdated pages?"),
    ),
    "image": _tech(
        "image",
        "alpine 3.17|alpine 3.18|alpine 3.19|debian 11|debian 12|"
        "ubuntu 22.04|ubuntu 24.04|distroless 1|distroless 2|wolfi 4",
        ("Containers of {s} start from the image {v}.", "The base image of {s} is {v}."),
        ("Which base image is {s} packaged on?", "What container image does {s} build upon?"),
        "Which base images were used for {s} up to now?",
    ),
    "toolchain": _tech(
        "pin",
        "bazel 6.2|bazel 7.0|gradle 8.1|gradle 8.5|cmake 3.27|"
        "cmake 3.29|pants 2.18|pants 2.20|buck 2|meson 1.3",
        ("{s} is compiled by {v}.", "Builds of {s} are pinned to {v}."),
        ("Which build tool compiles {s}?", "What build tool version is pinned in {s}?"),
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
        ("Where can I search the logging output of {s}?",
         "In which logging system do I look for errors of {s}?"),
    ),
    "scheduler": _tech(
        "dependency", "Kubernetes|Nomad|ECS|plain systemd|Cloud Run|OpenShift",
        ("{s} runs under {v}.", "{v} orchestrates the processes of {s}."),
        ("What platform starts and restarts {s}?", "Which orchestrator looks after the instances of {s}?"),
    ),
    "upstream": _tech(
        "dependency", "",
        ("{s} reads its input from {v}.", "{v} feeds {s} with fresh records."),
        ("Which service feeds input into {s}?", "Where do the records that {s} reads come from?"),
    ),
    "export": _tech(
        "dependency",
        "a nightly CSV|an hourly Parquet file|a weekly spreadsheet|"
        "a daily JSON dump|a live feed|a monthly archive",
        ("{s} delivers {v} to the data warehouse.", "The data warehouse receives {v} from {s}."),
        ("What does the warehouse get from {s}?", "In what form is data of {s} exported to the warehouse?"),
    ),
    "role": _tech(
        "dependency",
        "prices|customer records|stock levels|payment status|delivery dates|"
        "tax rates|user sessions|product images|discounts|invoices",
        ("{s} is the master system for {v}.", "Master data on {v} lives in {s}."),
        ("For which data is {s} the master?", "What master data does {s} hold?"),
    ),
    "note": _tech(
        "dependency", "",
        ("{s} was once modelled on {v}.", "The layout of {s} was copied from {v}."),
        ("Which service served as a model when {s} was designed?",
         "Whose layout served as the example for {s}?"),
    ),
    # --- OWNERSHIP ------------------------------------------------------------------------------
    "owner": Predicate(
        "OWNERSHIP", "owner", tuple(f"team {team}" for team in TEAMS),
        ("{s} is owned by {v}.", "The owner of {s} is {v}.", "{v} has ownership of {s}."),
        ("Which team owns {s}?", "What team is in charge of {s}?"),
        "Which teams have been responsible for {s} through the years?",
    ),
    "oncall": Predicate(
        "OWNERSHIP", "roster", PEOPLE,
        ("{v} is on pager duty for {s}.",
         "Alerts from {s} go to the pager of {v}.",
         "The pager of {s} is carried by {v}."),
        ("Which person gets the pager alerts of {s}?", "Who has pager duty when {s} fails?"),
    ),
    "lead": Predicate(
        "OWNERSHIP", "lead", PEOPLE,
        ("{v} is lead developer of {s}.", "The developer who leads {s} is {v}."),
        ("Who is lead developer on {s}?", "Which developer leads the work on {s}?"),
    ),
    "reviewer": Predicate(
        "OWNERSHIP", "member", PEOPLE,
        ("{v} reviews pull requests to {s}.", "{v} is a reviewer of {s}."),
        ("Which people review code in {s}?", "Who are the reviewers for {s}?"),
        many=True,
    ),
    "channel": Predicate(
        "OWNERSHIP", "lead",
        ("#harbour", "#attic", "#lantern", "#meadow", "#anchor", "#quarry", "#orchard", "#beacon"),
        ("Questions on {s} go to the channel {v}.", "The support channel of {s} is {v}."),
        ("What chat channel do I use for help with {s}?", "In which channel is {s} supported?"),
    ),
    "head": Predicate(
        "OWNERSHIP", "lead", PEOPLE,
        ("{s} is headed by {v}.", "{v} is the manager of {s}."),
        ("Who manages {s}?", "Which person is head of {s}?"),
        "Who has been the boss of {s}, one after another?",
    ),
    "member": Predicate(
        "OWNERSHIP", "member", PEOPLE,
        ("{v} works for {s} now.", "{v} is a member of {s}."),
        ("Who are the members in {s}?", "Which people work in {s}?"),
        many=True,
    ),
    "hosts": Predicate(
        "OWNERSHIP", "lead",
        ("the security board", "the architecture board", "the hiring board", "the incident board"),
        ("{s} hosts {v}.", "The host of {v} is {s}."),
        ("Which board does {s} host?", "What committee is hosted by {s}?"),
    ),
    # --- DECISION -------------------------------------------------------------------------------
    "broker": _decision(
        "Kafka|SQS|RabbitMQ|NATS|Pulsar|ActiveMQ|Kinesis",
        ("{s} publishes its events through the {v} broker.",
         "The event broker of {s} is {v}.",
         "We chose {v} as the broker for events of {s}."),
        ("Which broker are the events from {s} sent to?", "What event broker was chosen for {s}?"),
        "What event brokers were chosen for {s}, in order?",
    ),
    "rollout": _decision(
        "canary releases|blue-green switches|rolling updates|"
        "a weekly release train|dark launches|manual approval",
        ("{s} is released by {v}.", "Releases of {s} are rolled out by {v}."),
        ("How does {s} roll out its releases?", "What release strategy do we follow on {s}?"),
        "How has the deployment strategy on {s} changed from year to year?",
    ),
    "auth": _decision(
        "OAuth tokens|mutual TLS|API keys|signed cookies|SAML|Kerberos|passkeys",
        ("{s} authenticates its callers by {v}.", "Authentication in {s} is based on {v}."),
        ("How are callers of {s} authenticated?", "What authentication mechanism guards {s}?"),
        "Which login mechanisms guarded {s} before, and which now?",
    ),
    "format": _decision(
        "Avro|Protobuf|JSON|MessagePack|CBOR|XML|FlatBuffers",
        ("Messages of {s} are encoded as {v}.", "{s} serialises its messages to {v}."),
        ("In which format are messages from {s} serialised?", "What encoding do messages by {s} have?"),
        "Which wire formats did {s} write in turn?",
    ),
    "consumer": _decision(
        "batch consumers|polling consumers|push consumers|streaming consumers|replaying consumers",
        ("{v} pick up the events of {s}.", "Events from {s} are read by {v}."),
        ("What type of consumers should process events by {s}?",
         "Which kind of consumers reads what {s} emits?"),
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
        ("How fast must {s} answer?", "What response time limit applies to {s}?"),
    ),
    "uptime": _must(
        "99%|99.5%|99.9%|99.95%|99.99%|98%",
        ("{s} must be available {v} of the time.", "The uptime target of {s} is {v}."),
        ("What uptime was promised for {s}?", "What availability target must {s} meet?"),
    ),
    "residency": _must(
        "the EU|Switzerland|Canada|India|Australia|Japan|Brazil",
        ("Customer data in {s} must stay inside {v}.", "{s} may not move personal data out of {v}."),
        ("To which country are the personal records of {s} confined?",
         "Is there a data residency rule for {s}?"),
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
        ("Access to {s} must be audited for {v}.", "{s} owes an audit trail to {v}."),
        ("Who demands that we audit {s}?", "For whom do we keep audit records on {s}?"),
    ),
    "quota": _must(
        "10 calls a second|50 calls a second|100 calls a second|"
        "500 calls a second|1000 calls a day|5000 calls a day",
        ("{s} must not let one partner make more than {v}.", "The rate limit on partners of {s} is {v}."),
        ("What rate limit do partners have with {s}?", "How many calls can a partner make to {s}?"),
    ),
    "payload": _must(
        "1 MB|2 MB|5 MB|10 MB|25 MB|64 KB|256 KB",
        ("Uploads to {s} must not exceed {v}.", "{s} has to reject uploads above {v}."),
        ("What is the largest upload that {s} accepts?", "How big can an upload for {s} be?"),
    ),
    "support": _must(
        "Android 8|Android 9|Android 10|Android 11|Android 12|Android 13|Android 14",
        ("{s} must support clients from {v} on.", "The oldest client platform for {s} is {v}."),
        ("Which old devices does {s} have to keep working with?",
         "What minimum operating system version is required by {s}?"),
    ),
    "accessibility": _must(
        "WCAG 2.0 A|WCAG 2.1 AA|WCAG 2.2 AA|WCAG 2.1 AAA|EN 301 549|Section 508",
        ("Pages of {s} must comply with the accessibility level {v}.",
         "{s} is bound to the accessibility standard {v}."),
        ("What accessibility standard applies to {s}?",
         "Which accessibility rules must screens of {s} satisfy?"),
    ),
    "waiver": _must(
        "the quarterly penetration test|the load test|the licence scan|the code freeze|the second approval",
        ("{s} is exempt from {v} for now.", "For the time being {s} has an exemption from {v}."),
        ("What is {s} currently exempt from?", "Is any exemption in force for {s}?"),
    ),
}
# fmt: on
