"""What can be said of the person world: predicates with their values, sentences and questions.

As in ``statements``: ``{s}`` is the person, ``{v}`` the value, and no question shares a run of four
words with a sentence of its predicate (a test holds this for every pair). Every fact class has
several predicates; a class's domain is its name in capitals. Values are invented, as all names are.
"""

from __future__ import annotations

from memrot.timeline import Domain
from memrot_scenarios.lifetimes import Kind
from memrot_scenarios.setting import Predicate

CLASSES: dict[str, str] = {
    name.upper(): name
    for name in (
        "identity", "slow_attribute", "preference", "relationship", "working_context", "commitment",
        "episode", "session", "regulated",
    )
}  # fmt: skip
"""Domain -> fact class."""

PERSON_DOMAINS: dict[str, Domain] = {
    "IDENTITY": Domain(),
    "SLOW_ATTRIBUTE": Domain(window_days=240),
    "PREFERENCE": Domain(window_days=150),
    "RELATIONSHIP": Domain(window_days=210),
    "WORKING_CONTEXT": Domain(window_days=45),
    "COMMITMENT": Domain(grace_days=7),
    "EPISODE": Domain(window_days=120),
    "SESSION": Domain(window_days=1),
    "REGULATED": Domain(),
}
"""Days after which a reader of a domain wants a re-check; who someone is, what they promised (until
its stated end), and what the law has on record is not re-checked."""

_CITIES = "Lisbon|Ghent|Turin|Bergen|Graz|Leeds|Porto|Malmö|Basel|Utrecht|Lyon|Gdansk|Galway|Tartu"
_PLACES = "Madeira|the Dolomites|Iceland|Corsica|Kyoto|the Azores|Patagonia|Zanzibar|Lapland|Crete"


def _of(
    domain: str, holds: Kind, values: str, texts: tuple[str, ...], questions: tuple[str, ...],
    *, past: str = "", many: bool = False, dated: tuple[str, ...] = (),
) -> Predicate:  # fmt: skip
    listed = tuple(values.split("|")) if values else ()
    return Predicate(domain, holds, listed, texts, questions, past, many, dated)


# fmt: off
PERSON_PREDICATES: dict[str, Predicate] = {
    # --- IDENTITY -------------------------------------------------------------------------------
    "birthday": _of(
        "IDENTITY", "birth",
        "3 March|17 June|29 August|8 November|21 January|12 May|30 September|5 December|14 April|26 July",
        ("{s} was born on {v}.", "The birthday of {s} falls on {v}."),
        ("When does {s} turn a year older?", "On what date do we celebrate {s}?"),
    ),
    "birthplace": _of(
        "IDENTITY", "birth", _CITIES,
        ("{s} was born in the town of {v}.", "The birthplace of {s} is {v}."),
        ("Where did {s} come into the world?", "Which town does the birth certificate of {s} name?"),
    ),
    "mother_tongue": _of(
        "IDENTITY", "birth",
        "Portuguese|Flemish|Italian|Norwegian|Slovene|Welsh|Basque|Swedish|Romansh|Frisian|Polish|Irish",
        ("{s} grew up speaking {v}.", "The mother tongue of {s} is {v}."),
        ("What is the native language of {s}?", "In which language was {s} raised?"),
    ),
    "child": _of(
        "IDENTITY", "birth",
        "Little Amrit|Little Bexa|Little Corin|Little Dalea|Little Evrin|Little Faro|Little Gwenna",
        ("{s} has a child called {v}.", "{v} is the child of {s}."),
        ("What is the name of the son or daughter of {s}?", "How is the kid of {s} called?"),
    ),
    "allergy": _of(
        "IDENTITY", "birth", "peanuts|penicillin|shellfish|bee stings|latex|birch pollen|kiwi fruit|cat hair",
        ("{s} is allergic to {v}.", "Contact with {v} gives {s} an allergic reaction."),
        ("What allergy does {s} have?", "Which allergens must be kept away from {s}?"),
    ),
    # --- SLOW_ATTRIBUTE -------------------------------------------------------------------------
    "city": _of(
        "SLOW_ATTRIBUTE", "home", _CITIES,
        ("{s} lives in {v}.", "The home city of {s} is {v}.", "{v} is where {s} has a home."),
        ("In which town is {s} at home?", "What city would I travel to for visiting {s} at home?"),
        past="In which cities has {s} resided so far, one after another?",
    ),
    "address": _of(
        "SLOW_ATTRIBUTE", "home",
        "4 Alder Row|19 Quay Steps|82 Foundry Street|7 Larch Court|55 Canal Side|31 Orchard Hill|"
        "12 Mint Passage|68 Beacon Road|23 Weir Lane|90 Tannery Square",
        ("Letters for {s} go to {v}.", "The postal address of {s} is {v}."),
        ("To what street do I send a parcel for {s}?", "Which mailing address does {s} have?"),
        past="Under which street addresses did {s} receive post, in order?",
    ),
    "phone": _of(
        "SLOW_ATTRIBUTE", "contact",
        "555 0112|555 0147|555 0163|555 0178|555 0184|555 0120|555 0135|555 0191|555 0156|555 0109",
        ("{s} can be called on {v}.", "The phone number of {s} is {v}."),
        ("What number do I dial for reaching {s}?", "How can I ring {s} up?"),
    ),
    "email": _of(
        "SLOW_ATTRIBUTE", "contact",
        "quill@post.example|lantern@mail.example|fern@inbox.example|harbour@post.example|"
        "copper@mail.example|maple@inbox.example|tide@letters.example|ember@letters.example",
        ("{s} reads mail at {v}.", "The e-mail address of {s} is {v}."),
        ("Where do I send an electronic message to {s}?", "What e-mail does {s} use?"),
    ),
    "doctor": _of(
        "SLOW_ATTRIBUTE", "contact",
        "Dr Ashgrove|Dr Pinner|Dr Velde|Dr Mirrow|Dr Tolland|Dr Sandoval-Reyk|Dr Okrent|Dr Linsey-Harr",
        ("{s} is a patient of {v}.", "The family doctor of {s} is {v}."),
        ("Which physician does {s} see when ill?", "Who treats {s} as a general practitioner?"),
    ),
    "gym": _of(
        "SLOW_ATTRIBUTE", "contact",
        "Iron Loft|Blue Dumbbell|The Rowing Shed|Summit Hall|Kettle House|Northside Fitness|Pulse Yard",
        ("{s} works out at {v}.", "{v} is the gym that {s} belongs to."),
        ("In which fitness club does {s} train?", "Where does {s} go for exercise?"),
    ),
    "commute": _of(
        "SLOW_ATTRIBUTE", "contact",
        "tram 9|the river ferry|bus 42|a folding bicycle|the express train|a car pool|the funicular|metro C",
        ("{s} commutes by {v}.", "The way to work takes {s} on {v}."),
        ("How does {s} travel to the office each morning?", "What means of transport brings {s} to work?"),
    ),
    "employer": _of(
        "SLOW_ATTRIBUTE", "job",
        "Harrowgate Mills|Nimbus Freight|the Tideway Museum|Cobalt Assurance|Fenwick Optics|Rivet Robotics|"
        "the Alderman Press|Saffron Foods|Quarrystone Bank|Lumen Theatre",
        ("{s} is employed by {v}.", "{s} works for {v}.", "The employer of {s} is {v}."),
        ("At which company does {s} have a job?", "Who pays the salary of {s}?"),
        past="For which companies has {s} worked over the years?",
    ),
    "title": _of(
        "SLOW_ATTRIBUTE", "job",
        "payroll clerk|site engineer|head of purchasing|exhibition curator|data analyst|shift supervisor|"
        "legal counsel|product designer|quality inspector",
        ("{s} holds the position of {v}.", "The job title of {s} is {v}."),
        ("What post does {s} have at work?", "As what is {s} employed?"),
    ),
    "desk": _of(
        "SLOW_ATTRIBUTE", "job",
        "room 2.14|room 5.03|the north annex|the mezzanine|room 1.27|the glass pavilion|room 7.40",
        ("{s} sits in {v} at work.", "The desk of {s} is in {v}."),
        ("Where in the building do I find {s}?", "Which office room was given to {s}?"),
    ),
    "work_phone": _of(
        "SLOW_ATTRIBUTE", "job",
        "extension 311|extension 482|extension 127|extension 909|extension 655|extension 740|extension 218",
        ("{s} answers work calls on {v}.", "The office line of {s} is {v}."),
        ("What extension does {s} have in the company?", "Which number reaches {s} during office hours?"),
    ),
    "car": _of(
        "SLOW_ATTRIBUTE", "contact",
        "a green hatchback|a silver estate car|a red convertible|a white van|a blue electric car|"
        "a yellow camper|a black saloon",
        ("{s} drives {v}.", "The car of {s} is {v}."),
        ("What vehicle does {s} own?", "Which automobile should I look for when {s} picks me up?"),
    ),
    "bank": _of(
        "SLOW_ATTRIBUTE", "contact",
        "Heron Bank|Mutual of Larch|Anchor Savings|Delta Credit Union|Meridian Bank|Oak Building Society",
        ("{s} has an account with {v}.", "The bank of {s} is {v}."),
        ("Where does {s} keep money?", "Which financial house manages the current account of {s}?"),
    ),
    # --- PREFERENCE -----------------------------------------------------------------------------
    "diet": _of(
        "PREFERENCE", "taste",
        "a vegan|a vegetarian|a low-salt|a gluten-free|a kosher|a halal|a keto|a lactose-free",
        ("{s} follows {v} diet.", "Meals for {s} must suit {v} diet."),
        ("What should I keep in mind when cooking for {s}?", "Which dietary rules apply to {s}?"),
        past="What eating regimes has {s} been on, from first to last?",
    ),
    "drink": _of(
        "PREFERENCE", "taste",
        "oat milk latte|green tea|black coffee|hot chocolate|ginger lemonade|peppermint tea|cold brew|tonic",
        ("{s} likes to drink {v}.", "The favourite drink of {s} is {v}."),
        ("Which beverage should I order for {s}?", "What do I bring {s} from the café?"),
        past="What has {s} preferred to drink through time?",
    ),
    "seat": _of(
        "PREFERENCE", "taste", "the aisle|the window|the front row|the exit row|the very back|the quiet car",
        ("When travelling, {s} prefers a seat by {v}.", "{s} wants to sit in or at {v} on journeys."),
        ("Which place should be reserved on flights for {s}?", "Where would {s} rather sit on a train?"),
        past="Which seats did {s} ask for before, and which now?",
    ),
    "music": _of(
        "PREFERENCE", "taste", "baroque opera|free jazz|synth pop|bluegrass|fado|techno|choral works|blues",
        ("{s} listens mostly to {v}.", "The favourite music of {s} is {v}."),
        ("What style of songs should I play for {s}?", "Which musical genre does {s} enjoy?"),
        past="Which kinds of songs has {s} been fond of over time?",
    ),
    "theme": _of(
        "PREFERENCE", "taste", "dark mode|light mode|high contrast|sepia mode|large print|a compact layout",
        ("{s} wants screens shown in {v}.", "The display setting of {s} is {v}."),
        ("How should the interface look for {s}?", "What appearance did {s} choose on screen?"),
        past="What looks of the interface did {s} choose in turn?",
    ),
    "reply_style": _of(
        "PREFERENCE", "taste",
        "short bullet points|full paragraphs|a formal tone|plain words|step-by-step lists|a single sentence",
        ("{s} likes answers as {v}.", "Replies to {s} should be written in or as {v}."),
        ("How does {s} want to be answered?", "What writing style pleases {s}?"),
        past="How has {s} wanted to be answered in the past and today?",
    ),
    "hobby": _of(
        "PREFERENCE", "taste",
        "pottery|bouldering|bird watching|chess|open-water swimming|beekeeping|calligraphy|model railways",
        ("{s} spends free evenings on {v}.", "The hobby of {s} is {v}."),
        ("What does {s} do for fun?", "Which pastime does {s} pursue?"),
    ),
    "hotel_wish": _of(
        "PREFERENCE", "taste",
        "a room on a high floor|a room with a bath tub|a room near the lift|a room with a balcony",
        ("In hotels {s} asks for {v}.", "The hotel wish of {s} is {v}."),
        ("What kind of accommodation pleases {s}?", "What should I request at check-in on behalf of {s}?"),
    ),
    "budget": _of(
        "PREFERENCE", "taste",
        "30 euros a meal|90 euros a night|200 euros a flight|50 euros a gift|15 euros a lunch",
        ("{s} does not want to spend more than {v}.", "The spending limit that {s} set is {v}."),
        ("How much money may purchases for {s} cost?", "What price cap did {s} give?"),
    ),
    "curfew": _of(
        "PREFERENCE", "taste",
        "after 6 pm|after 8 pm|before 9 am|on Sundays|on Fridays|during lunch|at weekends",
        ("{s} takes no calls {v}.", "{v} is when {s} must not be disturbed."),
        ("At what times is {s} unavailable for meetings?", "When should nobody ring {s}?"),
    ),
    # --- RELATIONSHIP ---------------------------------------------------------------------------
    "partner": _of(
        "RELATIONSHIP", "tie", "",
        ("{v} is the partner of {s}.", "{s} and {v} are a couple."),
        ("With whom is {s} in a romantic relationship?", "Who is married to or dating {s}?"),
        past="With whom has {s} been together, in order?",
    ),
    "manager": _of(
        "RELATIONSHIP", "tie", "",
        ("{s} reports to {v} at work.", "The manager of {s} is {v}."),
        ("Who is the boss of {s}?", "Which superior must approve the leave of {s}?"),
        past="Who has been the boss of {s}, one after another?",
    ),
    "assistant": _of(
        "RELATIONSHIP", "tie", "",
        ("{v} keeps the diary of {s}.", "Appointments of {s} are arranged by {v}."),
        ("Whom do I ask for a slot in the calendar of {s}?", "Who does the secretarial work for {s}?"),
    ),
    "emergency": _of(
        "RELATIONSHIP", "tie", "",
        ("In an emergency, {v} should be told about {s}.", "The emergency contact of {s} is {v}."),
        ("Whom must a hospital notify if {s} has an accident?", "Who is to be alerted when {s} is hurt?"),
    ),
    "flatmate": _of(
        "RELATIONSHIP", "tie", "",
        ("{s} shares a flat with {v}.", "{v} is the flatmate of {s}."),
        ("Who lives under one roof with {s}?", "With which person does {s} split the rent?"),
    ),
    "landlord": _of(
        "RELATIONSHIP", "tie", "",
        ("{s} rents from {v}.", "The landlord of {s} is {v}."),
        ("Who owns the flat that {s} occupies?", "To whom is rent due from {s}?"),
    ),
    "dog_sitter": _of(
        "RELATIONSHIP", "tie", "",
        ("{v} looks after the dog of {s}.", "The dog of {s} stays with {v} during absences."),
        ("Who takes care of pets when {s} is away?", "Which person walks the animal {s} has?"),
    ),
    "keys": _of(
        "RELATIONSHIP", "tie", "",
        ("{v} has the spare keys of {s}.", "The spare keys of {s} are with {v}."),
        ("Who can open the door if {s} is locked out?", "Who holds a second set of keys to the home of {s}?"),
        past="Who has held a second set for {s}, from first to last?",
    ),
    "friend": _of(
        "RELATIONSHIP", "tie", "",
        ("{s} is good friends with {v}.", "{v} belongs to the close friends of {s}."),
        ("Who are the dearest pals {s} has?", "Which people would {s} invite to a party?"),
        many=True,
    ),
    "introduced_by": _of(
        "RELATIONSHIP", "tie", "",
        ("{s} was introduced to the tennis club by {v}.", "{v} once recommended the tennis club to {s}."),
        ("Through whom did {s} come to play tennis?", "Who first brought {s} along to tennis?"),
    ),
    # --- WORKING_CONTEXT ------------------------------------------------------------------------
    "task": _of(
        "WORKING_CONTEXT", "task",
        "the tax return|a wedding speech|the kitchen plans|a grant proposal|the quarterly figures|"
        "a job application|the garden layout|a conference talk",
        ("{s} is busy with {v} these days.", "What occupies {s} at present is {v}."),
        ("Which piece of work is {s} in the middle of?", "What is {s} currently doing?"),
    ),
    "ticket": _of(
        "WORKING_CONTEXT", "task",
        "ticket 8841|ticket 2090|ticket 5127|ticket 6633|ticket 3458|ticket 7716|ticket 1902",
        ("{s} is waiting for an answer on {v}.", "The open support case of {s} is {v}."),
        ("Which complaint of {s} is still being handled?", "What case number was {s} given by support?"),
    ),
    "reading": _of(
        "WORKING_CONTEXT", "task",
        "The Salt Ledger|A Year of Moths|Nine Harbours|The Clockmaker's Niece|Under Slate|Winter Arithmetic",
        ("{s} is halfway through the book {v}.", "On the night table of {s} lies {v}."),
        ("Which novel is {s} reading?", "What book has {s} begun but not finished?"),
    ),
    # --- COMMITMENT -----------------------------------------------------------------------------
    "booking": _of(
        "COMMITMENT", "plan",
        "the Hotel Amber|the Pension Mirabel|the Lodge at Fenn|the Grand Parade|the Inn of Seven|the Mill",
        ("{s} has a room at {v}.", "{v} expects {s} as a guest."),
        ("In which hotel is {s} staying?", "Where is {s} lodging during the trip?"),
        dated=("{s} has a room at {v} until {e}.", "{s} is booked into {v} through {e}."),
    ),
    "cover": _of(
        "COMMITMENT", "plan",
        "the front desk|the night shift|the choir rehearsals|the allotment|the youth team|the newsletter",
        ("{s} has promised to look after {v}.", "{s} stands in at {v}."),
        ("What duty has {s} taken over for now?", "For what is {s} filling in?"),
        dated=("{s} has promised to look after {v} until {e}.", "{s} stands in at {v} through {e}."),
    ),
    "trial": _of(
        "COMMITMENT", "plan",
        "a streaming trial|a museum pass|a gym voucher|a bike rental|a parking permit|a storage unit",
        ("{s} has {v}.", "{v} was taken out by {s}."),
        ("What temporary subscription does {s} hold?", "Which pass or rental is running for {s}?"),
        dated=("{s} has {v} until {e}.", "{v} of {s} is good through {e}."),
    ),
    # --- EPISODE --------------------------------------------------------------------------------
    "holiday": _of(
        "EPISODE", "event", _PLACES,
        ("{s} was on holiday in {v}.", "The latest vacation took {s} to {v}."),
        ("Where did {s} travel for leisure most recently?", "What was the last holiday destination of {s}?"),
        past="To which places has {s} travelled for leisure, in order?",
    ),
    "outing": _of(
        "EPISODE", "event",
        "a puppet theatre|an ice rink|a pumpkin fair|a lighthouse|a planetarium|a flea market|a salt mine",
        ("{s} spent the free day at {v}.", "On the last outing {s} visited {v}."),
        ("What trip did {s} make on the day off?", "Where did {s} go for a day out?"),
    ),
    # --- SESSION --------------------------------------------------------------------------------
    "that_one": _of(
        "SESSION", "event",
        "the blue sofa|the corner table|the 7.40 train|the oak shelf|the second draft|the larger tent",
        ("By 'that one' {s} means {v}.", "{s} is pointing at {v} in this chat."),
        ("What does {s} refer to right now?", "Which item has {s} just picked out?"),
    ),
    # --- REGULATED ------------------------------------------------------------------------------
    "diagnosis": _of(
        "REGULATED", "paper",
        "type 2 diabetes|sleep apnoea|a heart murmur|chronic migraine|celiac disease|tinnitus|gout",
        ("{s} was diagnosed with {v}.", "The medical file of {s} records {v}."),
        ("Which illness do the health records of {s} show?", "What condition did doctors find in {s}?"),
    ),
    "passport": _of(
        "REGULATED", "paper", "KX 448120|RT 903355|MB 217764|ZL 650981|PQ 381207|DW 779043|HN 126658",
        ("{s} holds passport {v}.", "The passport number of {s} is {v}."),
        ("What travel document identifies {s}?", "Which number is printed in the passport that {s} carries?"),
    ),
    "consent": _of(
        "REGULATED", "paper",
        "marketing mail|sharing of health data|location tracking|voice recording|credit checks|profiling",
        ("{s} consented to {v}.", "There is a signed consent by {s} to {v}."),
        ("What use of personal data did {s} agree to?", "For what have we permission from {s}?"),
    ),
}
# fmt: on
