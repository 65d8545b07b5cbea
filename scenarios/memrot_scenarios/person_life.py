"""What a person likes, whom they know, what they are up to, and what they promised or did."""

from __future__ import annotations

from memrot_scenarios.setting import Predicate, predicate
from memrot_scenarios.words import PEOPLE

_PEOPLE = "|".join(PEOPLE)
_PLACES = "Madeira|the Dolomites|Iceland|Corsica|Kyoto|the Azores|Patagonia|Zanzibar|Lapland|Crete"

# fmt: off
LIFE: dict[str, Predicate] = {
    # --- PREFERENCE ---------------------------------------------------------------------------------
    "diet": predicate(
        "PREFERENCE", "taste",
        "a vegan|a vegetarian|a low-salt|a gluten-free|a kosher|a halal|a keto|a lactose-free",
        ("{s} follows {v} diet.", "Meals for {s} must suit {v} diet."),
        ("What should I keep in mind when cooking for {s}?", "Which dietary rules apply to {s}?"),
        past="What eating regimes has {s} been on, from first to last?",
        dated=("{s} follows {v} diet until {e}.", "Meals for {s} must suit {v} diet through {e}."),
    ),
    "drink": predicate(
        "PREFERENCE", "taste",
        "oat milk latte|green tea|black coffee|hot chocolate|ginger lemonade|peppermint tea|cold brew|tonic",
        ("{s} likes to drink {v}.", "The favourite drink of {s} is {v}."),
        ("Which beverage should I order for {s}?", "What do I bring {s} from the café?"),
        past="What has {s} preferred to drink through time?",
    ),
    "seat": predicate(
        "PREFERENCE", "taste", "the aisle|the window|the front row|the exit row|the very back|the quiet car",
        ("When travelling, {s} prefers a seat by {v}.", "{s} wants to sit in or at {v} on journeys."),
        ("Which place should be reserved on flights for {s}?", "Where would {s} rather sit on a train?"),
        past="Which seats did {s} ask for before, and which now?",
    ),
    "music": predicate(
        "PREFERENCE", "taste", "baroque opera|free jazz|synth pop|bluegrass|fado|techno|choral works|blues",
        ("{s} listens mostly to {v}.", "The favourite music of {s} is {v}."),
        ("What style of songs should I play for {s}?", "Which musical genre does {s} enjoy?"),
        past="Which kinds of songs has {s} been fond of over time?",
    ),
    "theme": predicate(
        "PREFERENCE", "taste", "dark mode|light mode|high contrast|sepia mode|large print|a compact layout",
        ("{s} wants screens shown in {v}.", "The display setting of {s} is {v}."),
        ("How should the screen be displayed for {s}?", "What appearance did {s} choose on screen?"),
        past="What looks of the interface did {s} choose in turn?",
    ),
    "reply_style": predicate(
        "PREFERENCE", "taste",
        "short bullet points|full paragraphs|a formal tone|plain words|step-by-step lists|a single sentence",
        ("{s} likes answers as {v}.", "Replies to {s} should be written in or as {v}."),
        ("How does {s} want to be answered?", "What writing style pleases {s}?"),
        past="How has {s} wanted to be answered in the past and today?",
    ),
    "hobby": predicate(
        "PREFERENCE", "taste",
        "pottery|bouldering|bird watching|chess|open-water swimming|beekeeping|calligraphy|model railways",
        ("{s} spends free evenings on {v}.", "The hobby of {s} is {v}."),
        ("What does {s} do for fun?", "Which hobby does {s} pursue in spare time?"),
    ),
    "hotel_wish": predicate(
        "PREFERENCE", "taste",
        "a room on a high floor|a room with a bath tub|a room near the lift|a room with a balcony",
        ("In hotels {s} asks for {v}.", "The hotel wish of {s} is {v}."),
        ("What kind of accommodation pleases {s}?", "What kind of hotel room should I request for {s}?"),
    ),
    "budget": predicate(
        "PREFERENCE", "taste",
        "30 euros a meal|90 euros a night|200 euros a flight|50 euros a gift|15 euros a lunch",
        ("{s} does not want to spend more than {v}.", "The spending limit that {s} set is {v}."),
        ("How much money may purchases for {s} cost?", "What price cap did {s} give?"),
    ),
    "curfew": predicate(
        "PREFERENCE", "taste",
        "after 6 pm|after 8 pm|before 9 am|on Sundays|on Fridays|during lunch|at weekends",
        ("{s} takes no calls {v}.", "{v} is when {s} must not be disturbed."),
        ("At what times does {s} not want calls?", "When should nobody ring {s}?"),
    ),
    "meal_plan": predicate(
        "PREFERENCE", "taste",
        "the lentil box|the green crate|the soup club|the millet basket|the pasta parcel|the curry kit",
        ("{s} has {v} delivered every week.", "The weekly food delivery of {s} is {v}."),
        ("Which weekly meals get delivered to {s}?", "What food is delivered to {s} each week?"),
    ),
    "auto_reply": predicate(
        "PREFERENCE", "taste",
        "'back tomorrow'|'please write instead'|'ask a colleague'|'out of range'|'gone quiet'|'leave a note'",
        ("Callers of {s} hear the message {v}.", "The automatic answer on the line of {s} says {v}."),
        ("What automatic message do callers get from {s}?", "What does the answering machine of {s} say?"),
    ),
    "price_alert": predicate(
        "PREFERENCE", "taste",
        "flight prices|hotel prices|concert tickets|train fares|book prices|rental cars|ferry fares",
        ("{s} receives price alerts on {v}.", "A price alert watches {v} for {s}."),
        ("About what bargains is {s} notified?", "Which costs are being monitored on behalf of {s}?"),
    ),
    # --- RELATIONSHIP -------------------------------------------------------------------------------
    "partner": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{v} is the partner of {s}.", "{s} and {v} are a couple."),
        ("Who is the spouse or partner {s} loves?", "Who is married to or dating {s}?"),
        past="With whom has {s} been together, in order?",
    ),
    "manager": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{s} reports to {v} at work.", "The manager of {s} is {v}."),
        ("Who is the boss of {s}?", "Which manager must approve the leave of {s}?"),
        past="Who has been the boss of {s}, one after another?",
        dated=("{s} reports to {v} at work until {e}.", "The manager of {s} is {v} through {e}."),
    ),
    "assistant": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{v} keeps the diary of {s}.", "Appointments of {s} are arranged by {v}."),
        ("Who manages the appointments calendar for {s}?", "Who arranges meetings for {s}?"),
    ),
    "emergency": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("In an emergency, {v} should be told about {s}.", "The emergency contact of {s} is {v}."),
        ("Whom must a hospital notify if {s} has an accident?", "Who is to be alerted when {s} is hurt?"),
    ),
    "flatmate": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{s} shares a flat with {v}.", "{v} is the flatmate of {s}."),
        ("Who is sharing the flat with {s}?", "Who are the flatmates {s} lives with?"),
    ),
    "landlord": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{s} rents from {v}.", "The landlord of {s} is {v}."),
        ("Who is the owner of the flat that {s} rents?", "To whom is rent due from {s}?"),
    ),
    "dog_sitter": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{v} looks after the dog of {s}.", "The dog of {s} stays with {v} during absences."),
        ("Who takes care of pets when {s} is away?", "Which person walks the animal {s} has?"),
    ),
    "keys": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{v} has the spare keys of {s}.", "The spare keys of {s} are with {v}."),
        ("Who can let {s} in with spare keys?", "Who holds a second set of keys to the home of {s}?"),
        past="Who has held a second set for {s}, from first to last?",
    ),
    "friend": predicate(
        "RELATIONSHIP", "tie", _PEOPLE,
        ("{s} is good friends with {v}.", "{v} belongs to the close friends of {s}."),
        ("Who are the dearest pals {s} has?", "Which people would {s} invite to a party?"),
        many=True,
    ),
    "introduced_by": predicate(
        "RELATIONSHIP", "tie", "",
        ("{s} was introduced to the tennis club by {v}.", "{v} once recommended the tennis club to {s}."),
        ("Through whom did {s} come to play tennis?", "Who first brought {s} along to tennis?"),
    ),
    # --- WORKING_CONTEXT ----------------------------------------------------------------------------
    "task": predicate(
        "WORKING_CONTEXT", "task",
        "the tax return|a wedding speech|the kitchen plans|a grant proposal|the quarterly figures|"
        "a job application|the garden layout|a conference talk",
        ("{s} is busy with {v} these days.", "What occupies {s} at present is {v}."),
        ("What keeps {s} busy at the moment?", "With which project is {s} busy now?"),
        dated=("{s} is busy with {v} until {e}.", "{s} is occupied by {v} through {e}."),
    ),
    "ticket": predicate(
        "WORKING_CONTEXT", "task",
        "ticket 8841|ticket 2090|ticket 5127|ticket 6633|ticket 3458|ticket 7716|ticket 1902",
        ("{s} is waiting for an answer on {v}.", "The open support case of {s} is {v}."),
        ("Which ticket does {s} still await an answer to?",
         "What ticket number did support give {s}?"),
    ),
    "reading": predicate(
        "WORKING_CONTEXT", "task",
        "The Salt Ledger|A Year of Moths|Nine Harbours|The Clockmaker's Niece|Under Slate|Winter Arithmetic",
        ("{s} is halfway through the book {v}.", "On the night table of {s} lies {v}."),
        ("Which novel is {s} reading?", "What book has {s} begun but not finished?"),
    ),
    # --- COMMITMENT ---------------------------------------------------------------------------------
    "booking": predicate(
        "COMMITMENT", "plan",
        "the Hotel Amber|the Pension Mirabel|the Lodge at Fenn|the Grand Parade|the Inn of Seven|the Mill",
        ("{s} has a room at {v}.", "{v} expects {s} as a guest."),
        ("Which hotel has {s} reserved a room in?", "At which hotel is {s} being a guest?"),
        dated=("{s} has a room at {v} until {e}.", "{s} is booked into {v} through {e}."),
    ),
    "cover": predicate(
        "COMMITMENT", "plan",
        "the front desk|the night shift|the choir rehearsals|the allotment|the youth team|the newsletter",
        ("{s} has promised to look after {v}.", "{s} stands in at {v}."),
        ("What has {s} promised to do?", "Where is {s} standing in for somebody?"),
        dated=("{s} has promised to look after {v} until {e}.", "{s} stands in at {v} through {e}."),
    ),
    "pass": predicate(
        "COMMITMENT", "plan", "streaming|museum|gym|bike-share|parking|sauna|opera|zoo",
        ("{s} has a {v} pass for now.", "The {v} pass of {s} is valid."),
        ("Which passes may {s} use?", "What kind of pass does {s} own at present?"),
        dated=("{s} has a {v} pass until {e}.", "The {v} pass of {s} is valid through {e}."),
    ),
    # --- EPISODE ------------------------------------------------------------------------------------
    "holiday": predicate(
        "EPISODE", "event", _PLACES,
        ("{s} was on holiday in {v}.", "The latest vacation took {s} to {v}."),
        ("Where did {s} travel for leisure most recently?", "What was the last holiday destination of {s}?"),
        past="To which places has {s} travelled for leisure, in order?",
    ),
    "outing": predicate(
        "EPISODE", "event",
        "a puppet theatre|an ice rink|a pumpkin fair|a lighthouse|a planetarium|a flea market|a salt mine",
        ("{s} spent the free day at {v}.", "On the last outing {s} visited {v}."),
        ("What trip did {s} make on the day off?", "Where did {s} go for a day out?"),
    ),
    # --- SESSION ------------------------------------------------------------------------------------
    "that_one": predicate(
        "SESSION", "event",
        "the blue sofa|the corner table|the 7.40 train|the oak shelf|the second draft|the larger tent",
        ("By 'that one' {s} means {v}.", "In this chat {s} calls {v} 'that one'."),
        ("What does {s} mean when saying 'that one'?", "Which thing does {s} call 'that one'?"),
    ),
}
# fmt: on
