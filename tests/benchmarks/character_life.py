"""A made-up life of one character: thousands of events, and questions of which it is known what they ask for."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

SEED = 20
DAYS = 200
END = datetime(2031, 9, 1, 20, tzinfo=UTC)

PEOPLE = (
    "Ansel Brida Corwin Dagny Edric Fenna Garrick Hilde Ivo Jorun Kester Liesel Madoc Nessa Orrin Petra Quill Runa "
    "Stellan Thyra"
).split()
WARES = (
    "oats barley candles rope nails salt honey wool leather lamp oil dried fish seed corn horseshoes buckets baskets "
    "needles soap charcoal"
).split()
PLACES = "the market|the well|the mill|the ford|the chapel|the tavern|the smithy|the north gate|my stall".split("|")
MOODS = "tired|in good spirits|in a hurry|silent|drenched by the rain|hungry|glad of the sun".split("|")

ROUTINE = (
    ("trade", "{person} bought {number} measures of {ware} from me at {place} and paid without haggling."),
    ("trade", "I sold {person} some {ware} at {place}; the price was {number} coins after much talk."),
    ("conversation", "{person} and I talked about the weather at {place}; {person} was {mood}."),
    ("conversation", "The player asked after the price of {ware} and went on to {place}, {mood}."),
    ("conversation", "{person} complained to me about the price of {ware} at {place}."),
    ("routine", "I carried {number} sacks of {ware} to {place} and was {mood} afterwards."),
    ("routine", "I mended the awning at {place} while {person} watched, {mood}."),
    ("player_action", "The player helped me unload {ware} at {place} and left {mood}."),
    ("witnessed", "I saw {person} quarrel over {ware} at {place}; nothing came of it."),
    ("promise_kept", "{person} brought the {ware} to {place} as agreed, {number} measures of it."),
    ("gift_received", "The player gave me some {ware} at {place} as a token of goodwill."),
    ("threat_made", "{person} threatened to overturn my cart of {ware} at {place}."),
    ("debt", "{person} owes me {number} coins for {ware}, to be paid at {place}."),
)
"""Event type and text of what fills the days; the last four are weighty by their type."""

ROUTINE_WEIGHTS = (14, 14, 14, 10, 8, 12, 6, 6, 5, 4, 3, 1, 2)

NEEDLES = (
    (
        "conversation",
        "{person} told me that the {thing} in the crypt was cursed by a drowned monk.",
        "What do people say about the {thing} down in the crypt?",
    ),
    (
        "conversation",
        "The player's brother was last seen carrying a {thing} toward the salt coast.",
        "Have you any news of my brother and his {thing}?",
    ),
    (
        "trade",
        "I bought a {thing} from a masked stranger who would not tell where it came from.",
        "Where did you get that {thing}?",
    ),
    (
        "routine",
        "I hid the {thing} behind the third barrel in the cellar of the inn.",
        "Where have you put the {thing}?",
    ),
    (
        "witnessed",
        "I watched {person} bury a {thing} under the crooked elm at midnight.",
        "Did you ever see anybody dig a hole for a {thing}?",
    ),
    (
        "player_action",
        "The player repaired the {thing} of my late father and would take no reward.",
        "I once fixed something of your father's, a {thing}, remember?",
    ),
    (
        "quest_completed",
        "The player brought the {thing} back from the goblin caves for me.",
        "Who fetched the {thing} out of the caves?",
    ),
    (
        "gift_received",
        "The player made me a present of a carved {thing} on my name day.",
        "Do you still have the {thing} I gave you as a present?",
    ),
    (
        "emotional_support",
        "The player sat with me all night when the {thing} of my mother broke.",
        "I stayed with you when you mourned over the {thing}.",
    ),
    (
        "promise_made",
        "The player promised to bring me the {thing} of the lighthouse keeper.",
        "What was it that I swore to fetch you, the {thing}?",
    ),
    (
        "betrayal",
        "The player sold my {thing} to the bandits behind my back.",
        "I never did you wrong over that {thing}, did I?",
    ),
    (
        "saved_life",
        "The player pulled me out of the river when I dived after the {thing}.",
        "Who dragged you from the water because of a {thing}?",
    ),
    (
        "secret_revealed",
        "I confessed to the player that I stole the {thing} from the abbey as a boy.",
        "Tell me again what you took from the abbey, the {thing}.",
    ),
    (
        "debt",
        "I owe the ferryman two winters of work for the {thing} that I lost.",
        "What do you owe the ferryman for that {thing}?",
    ),
)
"""Event type, text and question of what is asked for."""

THINGS = (
    "astrolabe|bassoon|brass kettle|bronze mirror|chess queen|clay idol|crystal phial|cuckoo clock|death mask|drum|"
    "falcon hood|fiddle|glass eye|goblet|hourglass|ivory comb|jade ring|locket|loom|lute|music box|oil portrait|"
    "opal brooch|ox horn|pewter flask|pilgrim badge|prayer wheel|puppet|quill case|sabre|sealed letter|sextant|"
    "silver thimble|snuff box|spyglass|stuffed owl|sundial|tapestry|tin soldier|wax tablet|weather vane|whalebone"
).split("|")

ROUNDS = 3
"""So often each kind of needle stands in the life, once fresh, once in the last two months and once older."""

AGES_DAYS = ((0.2, 6.0), (8.0, 60.0), (61.0, 195.0))
AGE_NAMES = ("last week", "8-60 days", "older")


@dataclass(frozen=True)
class LifeEvent:
    """Something that happened to the character."""

    text: str
    event_type: str
    happened_at: datetime
    slot: str | None = None


@dataclass(frozen=True)
class LifeQuestion:
    """A remark, and the event of which it asks."""

    said: str
    event: LifeEvent
    age: str


@dataclass
class Life:
    """Events in the order in which they happened, and questions at their end."""

    events: list[LifeEvent] = field(default_factory=list)
    questions: list[LifeQuestion] = field(default_factory=list)
    owed: list[LifeEvent] = field(default_factory=list)
    """Promises of the last week that nobody asks for and that should come back at a greeting."""


GREETINGS = ("Good morning, Gregor.", "Here I am again.", "What is new?")


def made_up_life(count: int = 3_000) -> Life:
    """Return a life of so many events; the same for the same number."""
    source = random.Random(SEED)
    life = Life()
    things = iter(THINGS)
    for round_number in range(ROUNDS):
        for event_type, text, question in NEEDLES:
            thing, person = next(things), source.choice(PEOPLE)
            when = END - timedelta(days=source.uniform(*AGES_DAYS[round_number]))
            event = LifeEvent(text.format(thing=thing, person=person), event_type, when)
            life.events.append(event)
            life.questions.append(LifeQuestion(question.format(thing=thing), event, AGE_NAMES[round_number]))
    for days, ware in ((1.5, "a keg of black powder"), (3.0, "the deed of the mill"), (5.0, "a white goat")):
        owed = LifeEvent(
            f"The player promised to bring me {ware} before the fair.", "promise_made", END - timedelta(days=days)
        )
        life.owed.append(owed)
        life.events.append(owed)
    for day, name in ((190, "Theron"), (90, "Marcus"), (20, "Odo")):
        life.events.append(
            LifeEvent(f"The player's name is {name}.", "player_info", END - timedelta(days=day), "player_name")
        )
    life.events += _routine(source, count - len(life.events))
    life.events.sort(key=lambda event: event.happened_at)
    return life


def _routine(source: random.Random, count: int) -> Iterator[LifeEvent]:
    for _ in range(count):
        [(event_type, text)] = source.choices(ROUTINE, ROUTINE_WEIGHTS)
        told = text.format(
            person=source.choice(PEOPLE),
            ware=source.choice(WARES),
            place=source.choice(PLACES),
            mood=source.choice(MOODS),
            number=source.randint(2, 60),
        )
        yield LifeEvent(told, event_type, END - timedelta(days=source.uniform(0, DAYS)))
