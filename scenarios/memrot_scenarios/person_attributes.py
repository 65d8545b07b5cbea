"""What a person is and has: identity, slow attributes, and what is regulated."""

from __future__ import annotations

from memrot_scenarios.setting import Predicate, predicate

_CITIES = "Lisbon|Ghent|Turin|Bergen|Graz|Leeds|Porto|Malmö|Basel|Utrecht|Lyon|Gdansk|Galway|Tartu"

# fmt: off
ATTRIBUTES: dict[str, Predicate] = {
    # --- IDENTITY -----------------------------------------------------------------------------------
    "birthday": predicate(
        "IDENTITY", "birth",
        "3 March|17 June|29 August|8 November|21 January|12 May|30 September|5 December|14 April|26 July",
        ("{s} was born on {v}.", "The birthday of {s} falls on {v}."),
        ("When does {s} turn a year older?", "On what date do we celebrate {s}?"),
    ),
    "birthplace": predicate(
        "IDENTITY", "birth", _CITIES,
        ("{s} was born in the town of {v}.", "The birthplace of {s} is {v}."),
        ("Where did {s} come into the world?", "Which town does the birth certificate of {s} name?"),
    ),
    "mother_tongue": predicate(
        "IDENTITY", "birth",
        "Portuguese|Flemish|Italian|Norwegian|Slovene|Welsh|Basque|Swedish|Romansh|Frisian|Polish|Irish",
        ("{s} grew up speaking {v}.", "The mother tongue of {s} is {v}."),
        ("What is the native language of {s}?", "In which language was {s} raised?"),
    ),
    "child": predicate(
        "IDENTITY", "birth",
        "Little Amrit|Little Bexa|Little Corin|Little Dalea|Little Evrin|Little Faro|Little Gwenna",
        ("{s} has a child called {v}.", "{v} is the child of {s}."),
        ("What is the name of the son or daughter of {s}?", "How is the kid of {s} called?"),
    ),
    "allergy": predicate(
        "IDENTITY", "birth", "peanuts|penicillin|shellfish|bee stings|latex|birch pollen|kiwi fruit|cat hair",
        ("{s} is allergic to {v}.", "Contact with {v} gives {s} an allergic reaction."),
        ("What allergy does {s} have?", "Which allergens must be kept away from {s}?"),
    ),
    # --- SLOW_ATTRIBUTE -----------------------------------------------------------------------------
    "city": predicate(
        "SLOW_ATTRIBUTE", "home", _CITIES,
        ("{s} lives in {v}.", "The home city of {s} is {v}.", "{v} is where {s} has a home."),
        ("In which city is {s} living?", "What city would I travel to for visiting {s} at home?"),
        past="In which cities has {s} resided so far, one after another?",
    ),
    "address": predicate(
        "SLOW_ATTRIBUTE", "home",
        "4 Alder Row|19 Quay Steps|82 Foundry Street|7 Larch Court|55 Canal Side|31 Orchard Hill|"
        "12 Mint Passage|68 Beacon Road|23 Weir Lane|90 Tannery Square",
        ("Letters for {s} go to {v}.", "The postal address of {s} is {v}."),
        ("To what street do I send a parcel for {s}?", "What postal address is on file for {s}?"),
        past="Under which street addresses did {s} receive post, in order?",
        dated=("Letters for {s} go to {v} until {e}.", "The postal address of {s} is {v} through {e}."),
    ),
    "phone": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "555 0112|555 0147|555 0163|555 0178|555 0184|555 0120|555 0135|555 0191|555 0156|555 0109",
        ("{s} can be called on {v}.", "The phone number of {s} is {v}."),
        ("What number do I dial for reaching {s}?", "How can I ring {s} up?"),
    ),
    "email": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "quill@post.example|lantern@mail.example|fern@inbox.example|harbour@post.example|"
        "copper@mail.example|maple@inbox.example|tide@letters.example|ember@letters.example",
        ("{s} reads mail at {v}.", "The e-mail address of {s} is {v}."),
        ("At which e-mail can I write to {s}?", "What e-mail does {s} use?"),
    ),
    "doctor": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "Dr Ashgrove|Dr Pinner|Dr Velde|Dr Mirrow|Dr Tolland|Dr Sandoval-Reyk|Dr Okrent|Dr Linsey-Harr",
        ("{s} is a patient of {v}.", "The family doctor of {s} is {v}."),
        ("Which physician does {s} see when ill?", "Who treats {s} as a general practitioner?"),
    ),
    "gym": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "Iron Loft|Blue Dumbbell|The Rowing Shed|Summit Hall|Kettle House|Northside Fitness|Pulse Yard",
        ("{s} works out at {v}.", "{v} is the gym that {s} belongs to."),
        ("In which fitness club does {s} train?", "Where does {s} go for exercise?"),
    ),
    "commute": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "tram 9|the river ferry|bus 42|a folding bicycle|the express train|a car pool|the funicular|metro C",
        ("{s} commutes by {v}.", "The way to work takes {s} on {v}."),
        ("How does {s} travel to the office each morning?", "What means of transport brings {s} to work?"),
    ),
    "employer": predicate(
        "SLOW_ATTRIBUTE", "job",
        "Harrowgate Mills|Nimbus Freight|the Tideway Museum|Cobalt Assurance|Fenwick Optics|Rivet Robotics|"
        "the Alderman Press|Saffron Foods|Quarrystone Bank|Lumen Theatre",
        ("{s} is employed by {v}.", "{s} works for {v}.", "The employer of {s} is {v}."),
        ("For which company does {s} work?", "Who is employing {s}?"),
        past="For which companies has {s} worked over the years?",
    ),
    "title": predicate(
        "SLOW_ATTRIBUTE", "job",
        "payroll clerk|site engineer|head of purchasing|exhibition curator|data analyst|shift supervisor|"
        "legal counsel|product designer|quality inspector",
        ("{s} holds the position of {v}.", "The job title of {s} is {v}."),
        ("What is the job title that {s} has?", "Which position does {s} hold at work?"),
    ),
    "desk": predicate(
        "SLOW_ATTRIBUTE", "job",
        "room 2.14|room 5.03|the north annex|the mezzanine|room 1.27|the glass pavilion|room 7.40",
        ("{s} sits in {v} at work.", "The desk of {s} is in {v}."),
        ("Where in the building do I find {s}?", "Which office room was given to {s}?"),
    ),
    "work_phone": predicate(
        "SLOW_ATTRIBUTE", "job",
        "extension 311|extension 482|extension 127|extension 909|extension 655|extension 740|extension 218",
        ("{s} answers work calls on {v}.", "The office line of {s} is {v}."),
        ("What extension does {s} have in the company?", "Which number reaches {s} during office hours?"),
    ),
    "car": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "a green hatchback|a silver estate car|a red convertible|a white van|a blue electric car|"
        "a yellow camper|a black saloon",
        ("{s} drives {v}.", "The car of {s} is {v}."),
        ("What vehicle does {s} own?", "Which automobile should I look for when {s} picks me up?"),
    ),
    "bank": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "Heron Bank|Mutual of Larch|Anchor Savings|Delta Credit Union|Meridian Bank|Oak Building Society",
        ("{s} has an account with {v}.", "The bank of {s} is {v}."),
        ("Where does {s} keep money?", "Which financial house manages the current account of {s}?"),
    ),
    "insured_via": predicate(
        "SLOW_ATTRIBUTE", "job", "",
        ("{s} is insured through the job of {v}.", "The insurance of {s} hangs on the job of {v}."),
        ("Whose employment gives {s} insurance?", "Through which person is {s} insured?"),
    ),
    "family_pass": predicate(
        "SLOW_ATTRIBUTE", "job",
        "the staff pool|the staff canteen|the staff library|the staff sauna|the staff garage|the crèche",
        ("{s} has a family pass for {v}.", "As a relative, {s} may use {v}."),
        ("Where may {s} go with the family pass?", "To what does the pass for relatives admit {s}?"),
    ),
    "plan": predicate(
        "SLOW_ATTRIBUTE", "job",
        "the silver tier|the gold tier|the basic tier|the family tier|the travel tier|the senior tier",
        ("The health plan of {s} is {v}.", "{s} is covered under {v} of the health plan."),
        ("What level of medical cover does {s} have?", "Which tier was chosen in the insurance of {s}?"),
    ),
    "dentist": predicate(
        "SLOW_ATTRIBUTE", "contact",
        "the Bright Arch practice|the Molar Mill|the Pearl Street surgery|the Ivory Rooms",
        ("{s} has teeth treated at {v}.", "The dentist of {s} is at {v}."),
        ("Where should {s} go with a toothache?", "Which dental surgery looks after {s}?"),
    ),
    # --- REGULATED ----------------------------------------------------------------------------------
    "diagnosis": predicate(
        "REGULATED", "paper",
        "type 2 diabetes|sleep apnoea|a heart murmur|chronic migraine|celiac disease|tinnitus|gout",
        ("{s} was diagnosed with {v}.", "The medical file of {s} records {v}."),
        ("Which illness do the health records of {s} show?", "What condition did doctors find in {s}?"),
    ),
    "passport": predicate(
        "REGULATED", "paper", "KX 448120|RT 903355|MB 217764|ZL 650981|PQ 381207|DW 779043|HN 126658",
        ("{s} holds passport {v}.", "The passport number of {s} is {v}."),
        ("What travel document identifies {s}?", "Which number is printed in the passport that {s} carries?"),
    ),
    "consent": predicate(
        "REGULATED", "paper",
        "marketing mail|sharing of health data|location tracking|voice recording|credit checks|profiling",
        ("{s} consented to {v}.", "There is a signed consent by {s} to {v}."),
        ("What use of personal data did {s} agree to?", "For what have we permission from {s}?"),
        dated=("{s} consented to {v} until {e}.",
               "There is a signed consent by {s} to {v}, valid through {e}."),
    ),
}
# fmt: on
