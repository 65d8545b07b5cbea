"""``memrot retention``: read a policy, test it twice, tune it, and draw what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrot.cli.bounds_lost import bounds
from memrot.cli.sources import conversing, exams, instant, policy_of
from memrot.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memrot.layers.policy import Policy
    from memrot.retention.beliefs import Belief
    from memrot.retention.replay import Replay
    from memrot.retention.stores import Keeper, Trial
    from memrot.timeline import Timeline

retention = typer.Typer(
    help="Test and tune how long each class of facts is believed in silence.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

retention.command()(bounds)

PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="A policy in TOML (default: the built-in one).")
]
Timelines = Annotated[
    list[Path] | None, typer.Option("--timeline", help="Timeline files to test on; repeatable.")
]
RunOf = Annotated[Path | None, typer.Option("--run", help="A run's folder: test on its timelines.")]
Scenarios = Annotated[list[str] | None, typer.Option("--scenario", help="Scenarios to test on; repeatable.")]
Seeds = Annotated[int, typer.Option(help="Timelines a scenario; more where they hold too few conversations.")]
Wanted = Annotated[int, typer.Option("--conversations", help="Conversations to draw at least.", min=1)]
Target = Annotated[float, typer.Option(help="Share that may be wrong beyond a lifetime.", min=0, max=1)]
EmbedderName = Annotated[str, typer.Option("--embedder", help="minilm, or hashing (lexical: for tests).")]

_SEEDS = 10
_WANTED = 1000
_MONTHS = (0, 6, 12, 24, 36, 48)
_MONTH_DAYS = 730 / 24
"""Two years in days are 24 months."""


@retention.command()
def show(
    file: Annotated[
        Path | None, typer.Argument(help="A policy in TOML (default: the built-in one).", metavar="FILE")
    ] = None,
    confidence: Annotated[float, typer.Option(help="With which the facts of the curves were stored.")] = 1.0,
    toml: Annotated[bool, typer.Option("--toml", help="Print the policy as a file to start from.")] = False,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Draw the decay curves here (SVG).")] = None,
) -> None:
    """Check a policy and show what it does to each class of facts."""
    from memrot.lines import write_lines
    from memrot.retention import curve, policy, tables
    from memrot.retention.calibration import decay

    if not 0 < confidence <= 1:
        raise BadInput(f"--confidence: expected a number above 0, at most 1, got {confidence}")
    read = policy_of(file)
    if toml:
        typer.echo(policy.written(read), nl=False)
        return
    typer.echo(tables.table(policy.table(read), policy.TABLE))
    days = [month * _MONTH_DAYS for month in _MONTHS]
    rows = [
        [name, *(f"{value:.3f} {band}" for value, band in decay(read, name, confidence, days))]
        for name, each in read.classes.items()
        if each.half_life_days is not None
    ]
    typer.echo(f"\nStored at {confidence:g} and never touched again:\n")
    typer.echo(tables.table(rows, ["class", *(f"{month} months" for month in _MONTHS)]))
    if out is not None:
        write_lines(out, curve.decays(read, confidence).splitlines())


@retention.command()
def replay(  # noqa: PLR0917 - an option each
    policy: PolicyFile = None,
    timeline: Timelines = None,
    run: RunOf = None,
    scenario: Scenarios = None,
    seeds: Seeds = _SEEDS,
    log: Annotated[
        Path | None,
        typer.Option(
            help="Conversations of your own: JSON Lines of time, session, question; needs --timeline."
        ),
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(help="Another policy to compare with, for example 'ttl[days=90,hard]'; repeatable."),
    ] = None,
    conversations: Wanted = _WANTED,
    listed: Annotated[int, typer.Option("--list", help="Worse conversations to list.", min=0)] = 10,
    embedder: EmbedderName = "minilm",
) -> None:
    """Replay every conversation against the full store and against the policy's."""
    from memrot.retention import stores, tables
    from memrot.retention.conversations import from_log, read_log

    read = policy_of(policy)
    if log is None:
        asked = conversing(timeline, run, scenario, seeds, conversations)[1]
    elif timeline is None or len(timeline) != 1:
        raise BadInput("--log: expected one --timeline, of what your memory was told")
    else:
        asked = [from_log(exams(timeline, None, None, ())[0], read_log(log))]
    keepers = [stores.retaining(read), *(stores.named(name) for name in beside or ())]
    with _trial(embedder, asked) as trial:
        found = {keeper.name: _replayed(trial, asked, keeper) for keeper in keepers}
        costs = {keeper.name: trial.cost(asked, keeper) for keeper in (stores.FULL, *keepers)}
    typer.echo(tables.replays(found))
    total = len(found[keepers[0].name].conversations)
    if total < _WANTED:
        typer.echo(
            f"warning: {total} conversations, fewer than {_WANTED:,}: the intervals are wide", err=True
        )
    typer.echo("\nWhat got worse under the policy:\n")
    typer.echo(tables.worse(found[keepers[0].name], listed))
    typer.echo("\nStorage, which is no reason to forget:\n")
    typer.echo(tables.costs(costs))


@retention.command()
def audit(  # noqa: PLR0917 - an option each
    policy: PolicyFile = None,
    timeline: Timelines = None,
    run: RunOf = None,
    scenario: Scenarios = None,
    seeds: Seeds = _SEEDS,
    facts: Annotated[
        Path | None,
        typer.Option(help="What your store holds: CSV of id, class, subject, predicate, value, observed_at."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Your system of record: CSV of subject, predicate, value, or an SQLite file."),
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="For SQLite: a query for subject, predicate and value.")
    ] = None,
    ask: Annotated[
        Path | None, typer.Option(help="Write questions about what nobody could check to this CSV.")
    ] = None,
    answers: Annotated[Path | None, typer.Option(help="Take the answers back from such a CSV.")] = None,
    at: Annotated[str | None, typer.Option(help="When your store held these facts (RFC 3339).")] = None,
    target: Target = 0.10,
    sample: Annotated[int, typer.Option(help="Facts to check a class.", min=1)] = 200,
) -> None:
    """Check facts older than their lifetimes against the truth."""
    from memrot.retention import audit as auditing
    from memrot.retention import record as files
    from memrot.retention import tables
    from memrot.retention.beliefs import beliefs
    from memrot.retention.calibration import calibrated

    if at is not None and facts is None:
        raise BadInput("--at: expected --facts, which were held then")
    if query is not None and record is None:
        raise BadInput("--query: expected --record, which it asks")
    read = policy_of(policy)
    if facts is not None:
        known = files.read_facts(facts, instant(at))
    else:
        given = exams(timeline, run, scenario, range(1, seeds + 1))
        known = [belief for exam in given for belief in beliefs(exam)]
    if record is not None:
        known = files.checked(known, files.read_record(record, query))
    if answers is not None:
        known = files.answered(known, answers)
    found = auditing.audit(known, read, target=target, sample=sample)
    typer.echo(tables.audits(found))
    for line in auditing.contradictions(found):
        typer.echo(f"contradiction: {line}")
    calibrations = calibrated(known, read)
    if calibrations:
        typer.echo("\nWhether confidence means what it says:\n")
        typer.echo(tables.calibrations(calibrations))
    if ask is not None:
        open_ = _unchecked(known, read, sample)
        files.ask(ask, open_, read)
        typer.echo(f"\n{len(open_)} questions to ask are in {ask}; take the answers back with --answers")


@retention.command()
def tune(  # noqa: PLR0917 - an option each
    policy: PolicyFile = None,
    timeline: Timelines = None,
    run: RunOf = None,
    scenario: Scenarios = None,
    seeds: Seeds = _SEEDS,
    target: Target = 0.10,
    limit: Annotated[
        float, typer.Option(help="Most of all conversations that may get worse.", min=0, max=1)
    ] = 0.01,
    conversations: Wanted = _WANTED,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write the tuned policy here.")] = None,
    embedder: EmbedderName = "minilm",
) -> None:
    """Fit lifetimes, test them on other timelines than those they were fitted on."""
    from memrot.lines import write_lines
    from memrot.retention import audit as auditing
    from memrot.retention import policy as policies
    from memrot.retention import stores, tables
    from memrot.retention import tune as tuning
    from memrot.retention.beliefs import beliefs, spells
    from memrot.retention.conversations import of

    read = policy_of(policy)
    given = exams(timeline, run, scenario, range(1, 2 * seeds + 1))
    fitted, held_out = tuning.split(given)
    asked, asked_later = of(fitted, conversations), of(held_out, conversations)
    with _trial(embedder, [*asked, *asked_later]) as trial:
        tuned = tuning.tune(
            read,
            [spell for exam in fitted for spell in spells(exam, read.classes)],
            lambda proposal: _replayed(trial, asked, stores.retaining(proposal)),
            target=target,
            limit=limit,
        )
        both = {"before": read, "after": tuned.policy}
        replays = {name: _replayed(trial, asked_later, stores.retaining(each)) for name, each in both.items()}
    typer.echo(f"Silence, on {len(fitted)} timelines:\n")
    typer.echo(tables.survivals(tuned.survivals))
    typer.echo(f"\nLifetimes for {target:.0%} wrong, within {limit:.2%} of conversations worse:\n")
    typer.echo(tables.changes(read, tuned))
    if not tuned.within:
        typer.echo("warning: no lifetimes were found that keep within the limit", err=True)
    typer.echo(f"\nOn {len(held_out)} timelines held out:\n")
    typer.echo(tables.replays(replays))
    known = [belief for exam in held_out for belief in beliefs(exam)]
    for name, each in both.items():
        typer.echo(f"\nAudit {name}:\n")
        typer.echo(tables.audits(auditing.audit(known, each, target=target)))
    if out is not None:
        write_lines(out, policies.written(tuned.policy).splitlines())
        typer.echo(f"\nThe tuned policy is in {out}")


@retention.command()
def curve(  # noqa: PLR0917 - an option each
    out: Annotated[Path, typer.Option("-o", "--out", help="Where to draw it (SVG).")],
    policy: PolicyFile = None,
    timeline: Timelines = None,
    run: RunOf = None,
    scenario: Scenarios = None,
    seeds: Seeds = _SEEDS,
    conversations: Wanted = _WANTED,
    embedder: EmbedderName = "minilm",
) -> None:
    """Draw what one TTL for everything can do, from 1 to 3,650 days, and the policies by class against it."""
    from memrot.layers.policy import DEFAULT, WEIBULL
    from memrot.lines import write_lines
    from memrot.retention import curve as drawing
    from memrot.retention import stores, tables
    from memrot.retention.beliefs import beliefs

    own = {} if policy is None else {"policy": policy_of(policy)}
    given, asked = conversing(timeline, run, scenario, seeds, conversations)
    known = [belief for exam in given for belief in beliefs(exam)]
    with _trial(embedder, asked) as trial:
        swept, soft = (
            [
                drawing.Point.of(
                    f"one {kind} of {each} d",
                    _replayed(trial, asked, stores.named(f"ttl[days={each}{option}]")),
                    drawing.outlived_rate(known, drawing.one_ttl(each, known)),
                    each,
                )
                for each in days
            ]
            for kind, option, days in (("TTL", ",hard", drawing.DAYS), ("soft TTL", "", drawing.SOFT_DAYS))
        )
        policies = [
            drawing.Point.of(
                name,
                _replayed(trial, asked, stores.retaining(each, name)),
                drawing.outlived_rate(known, each),
            )
            for name, each in {"by class, half-lives": DEFAULT, "by class, Weibull": WEIBULL, **own}.items()
        ]
    standings = [
        (each, drawing.standing(each, swept), drawing.standing(each, soft, "spoiled")) for each in policies
    ]
    typer.echo(tables.points([*swept, *soft], standings))
    write_lines(out, drawing.figure(swept, soft, policies).splitlines())
    typer.echo(f"\nDrawn in {out}")


def _trial(embedder: str, asked: Sequence[Timeline]) -> Trial:
    from memrot import registry
    from memrot.retention.stores import Trial

    return Trial(registry.embedder(embedder), asked)


def _replayed(trial: Trial, asked: Sequence[Timeline], keeper: Keeper) -> Replay:
    from memrot.retention.replay import replay

    return replay([(each, trial.kept(each).seen, trial.kept(each, keeper).seen) for each in asked])


def _unchecked(known: Sequence[Belief], policy: Policy, sample: int) -> list[Belief]:
    """What the audit would have checked, and nobody could."""
    from memrot.layers.policy import REGULATED
    from memrot.retention.audit import outlived, sampled

    return [
        belief
        for name, each in policy.classes.items()
        if name != REGULATED
        for belief in sampled(
            outlived([belief for belief in known if belief.fact_class == name], each), sample, name
        )
        if belief.true is None
    ]
