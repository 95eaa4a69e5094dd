"""Reproduce a paper: run its studies, estimate the published numbers, and judge its claims."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType

from jali.audit import sanity
from jali.audit.all_models import Gathered, RunRecord, blocks, gather, readouts
from jali.audit.experiment import checks, measured, warnings
from jali.audit.faithfulness import Faithful
from jali.audit.guarantees import Guarantees, capped, guarantees
from jali.audit.one_model import STATISTICS, stream, unfinished
from jali.audit.reference import needed, records_of
from jali.audit.setup import Experiment, Resources, load
from jali.audit.setup import Setup as Loaded
from jali.audit.summary import sizes
from jali.audit.trials import Trial, guess, rows_of
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.values import Channel, Game, SignalName
from jali.data.tables import files as _files
from jali.reproduce.budget import targets_beyond, with_targets
from jali.reproduce.figures import drawings
from jali.reproduce.files import read
from jali.reproduce.findings import findings, judged_again
from jali.reproduce.keeping import redrawn, with_studies_to_come
from jali.reproduce.numbers import Ran, number, run_of, trial_of
from jali.reproduce.perturbing import perturbed
from jali.reproduce.schema import SCALES, Method, Paper, Scale, Setup
from jali.reproduce.scores import scores_of
from jali.reproduce.sentences import fewest
from jali.results.reproduction import Capped, Reproduction, Spread, Study
from jali.stats.roc import METRICS

LIBRARIES = ("jali-audit", "numpy", "scipy", "scikit-learn", "torch")


def reproduce(
    paper: Paper,
    name: str,
    scale: Scale = "standard",
    only: Sequence[str] = (),
    resources: Resources = Resources(),  # noqa: B008
    targets: Mapping[str, int] = MappingProxyType({}),
) -> Reproduction:
    """Run the studies of a paper at a scale, or `only` some of them, and judge every claim about them.

    targets: for some studies, how many models are attacked instead of what their game says.
    """
    began = time.perf_counter()
    wanted = set(only) or set(paper.studies)
    if wanted - set(paper.studies):
        raise JaliError(
            f"There is no study {min(wanted - set(paper.studies))!r}; there are {', '.join(paper.studies)}."
        )
    chosen = {k: s.at(scale) for k, s in paper.studies.items() if k in wanted}
    chosen = {k: with_targets(s, targets[k]) if k in targets else s for k, s in chosen.items()}
    now = {k: s for k, s in chosen.items() if scale in s.scales}
    experiments = {k: _experiment(s, _methods_of(s, paper)) for k, s in now.items() if not s.scores}
    resources.begin()
    ran = {}
    for k, setup in chosen.items():
        if k in experiments:
            ran[k] = _study(k, setup, experiments[k], _methods_of(setup, paper), resources)
        elif k in now:
            ran[k] = _scored(k, setup, _methods_of(setup, paper))
        else:
            ran[k] = Ran(_left_out(k, setup))
    ran = {k: replace(r, study=_told(k, r, paper, scale)) for k, r in ran.items()}
    found = findings(paper, ran, scale)
    drawn = list(drawings(paper, ran))
    return Reproduction(
        paper=Path(name).stem,
        title=paper.title,
        citation=paper.citation,
        note=paper.note,
        contents=paper.contents,
        scale=scale,
        command=f"jali reproduce {name} --scale {scale}" + "".join(f" --only {k}" for k in only),
        made=date.today().isoformat(),
        versions=_versions(),
        seconds=time.perf_counter() - began,
        memory_mb=_memory(),
        findings=found,
        moved=perturbed(found),
        drawings=drawn,
        studies=[r.study for r in ran.values()],
    )


def judge_again(paper: Paper, name: str, file: Path) -> Reproduction:
    """The numbers of an earlier run, from its .json file, beside the claims as they now stand; nothing is run."""
    kept = read(file, paper)
    if kept.paper != Path(name).stem:
        raise JaliError(f"{file} is a run of {kept.paper}, not of {Path(name).stem}: name that paper.")
    head = {"title": paper.title, "citation": paper.citation, "note": paper.note, "contents": paper.contents}
    studies = [_as_it_stands(study, paper, kept.scale) for study in kept.studies]
    now = kept.model_copy(update={**head, "judged": date.today().isoformat(), "studies": studies})
    whole = with_studies_to_come(paper, now)
    judged = judged_again(paper, whole)
    return redrawn(paper, whole.model_copy(update={"findings": judged, "moved": perturbed(judged)}))


def _as_it_stands(study: Study, paper: Paper, scale: str) -> Study:
    """A study of an earlier run beside the file as it now stands: what is smaller, and whether a new run is due."""
    if study.name not in paper.studies:
        return study.model_copy(update={"due": "The paper's file no longer has this study."})
    setup = paper.studies[study.name].at(next(s for s in SCALES if s == (study.scale or scale)))
    if study.skipped and scale not in setup.scales:
        return _left_out(study.name, setup)
    now = setup.parts()
    beyond = targets_beyond(setup.game, study.parts.get("game", ""))
    enough = beyond is not None and beyond >= 0
    kinds = [k for k in ("data", "model", "game", "scores") if not (k == "game" and enough)]
    changed = [k for k in kinds if now.get(k) != study.parts.get(k)]
    due = (
        f"Run with another {' and '.join(changed)} than the paper's file now has: a new run is due." if changed else ""
    )
    return study.model_copy(update={"due": due, "more": _more(setup, study), "smaller": setup.smaller})


def _more(setup: Setup, study: Study) -> str:
    """What a page says of a study with more target models than the paper's file has."""
    beyond = targets_beyond(setup.game, study.parts.get("game", ""))
    return f"Run with more target models than the scale has: {setup.game}." if beyond and beyond > 0 else ""


def _left_out(name: str, setup: Setup) -> Study:
    """A study that the scale does not run."""
    skipped = f"run at --scale {' or '.join(setup.scales)} only"
    return Study(name=name, parts=setup.parts(), skipped=skipped, smaller=setup.smaller)


def _told(name: str, ran: Ran, paper: Paper, scale: Scale) -> Study:
    """The record of a study with what its guesses and the paper's file add to it."""
    more = _more(paper.studies[name].at(scale), ran.study)
    others = {method: fewest(guesses) for method, guesses in ran.guesses.items()}
    return ran.study.model_copy(update={"attacks": _attacks(ran, paper), "others": others, "more": more})


def _attacks(ran: Ran, paper: Paper) -> dict[str, Spread]:
    """AUC of every method that guesses membership."""
    found = {method: number(ran, method, "auc", paper) for method in ran.guesses}
    return {m: (e.value, e.low, e.high, e.units) for m, e in found.items() if e.value is not None}


def _methods_of(setup: Setup, paper: Paper) -> dict[str, Method]:
    return {t: paper.methods[t] for t in setup.methods}


def _scored(name: str, setup: Setup, methods: dict[str, Method]) -> Ran:
    """Run every method on the scores of other people's models; without the file the study is skipped."""
    began = time.perf_counter()
    parts = setup.parts()
    try:
        scores, game, warnings = scores_of(setup)
    except JaliError as error:
        return Ran(Study(name=name, parts=parts, skipped=_without_folders(str(error)), smaller=setup.smaller))
    guesses = {}
    failed = {}
    for method, words in methods.items():
        names = tuple(SignalName(text) for text in words.signals)
        trial = Trial(registry.build("attack", words.attack), names, Channel.SCORE)
        try:
            guesses[method] = guess(scores, game, trial)
        except JaliError as error:
            failed[method] = str(error)
    study = Study(
        name=name,
        parts=parts,
        facts=sizes(game),
        warnings=warnings,
        seconds=time.perf_counter() - began,
        smaller=setup.smaller,
        stored=0,
    )
    return Ran(study, guesses, failed)


def _study(name: str, setup: Setup, experiment: Experiment, methods: dict[str, Method], resources: Resources) -> Ran:
    """Gather the evidence of a study and run every method on it; a study without its data is skipped."""
    began = time.perf_counter()
    parts = setup.parts()
    watched = replace(resources, watch=lambda label: resources.watch(f"{name}: {label}"))
    try:
        loaded = load(experiment)
        stored = _stored(loaded, resources)
        found = gather(loaded, watched)
    except JaliError as error:
        return Ran(Study(name=name, parts=parts, skipped=_without_folders(str(error)), smaller=setup.smaller))
    guesses, failed = _methods(loaded, found, methods)
    given = guarantees(experiment.model, experiment.explain, loaded.data)
    study = Study(
        name=name,
        parts=parts,
        facts=sizes(loaded.game, loaded.data),
        sanity=[*checks(loaded), sanity.parity(found.parity)],
        warnings=warnings(loaded, given),
        measures=measured(loaded, found),
        capped=_capped(given, setup.seed, loaded.game, guesses, methods),
        seconds=time.perf_counter() - began,
        smaller=setup.smaller,
        stored=stored,
    )
    records = {name: found.record(run_of(methods[name])) for name in guesses if methods[name].query_attack}
    overall = {name: dict(record.overall or {}) for name, record in records.items()}
    return Ran(study, guesses, failed, setup.seed, overall, loaded, found)


def _stored(loaded: Loaded, resources: Resources) -> int:
    """How many models have all their results in the store already, so that the time of a run leaves them out."""
    if resources.store is None:
        return 0
    chosen = readouts(loaded.parts, loaded.data.outcome is not None)
    every = blocks(loaded, resources.here(), chosen)
    return sum(not unfinished(block, at) for block in every for at in range(len(block.numbers)))


def _experiment(setup: Setup, methods: dict[str, Method]) -> Experiment:
    named = dict.fromkeys(e for a in methods.values() for e in (a.explain, a.among) if e)
    explainers = [registry.build("explain", text) for text in named]
    signals = dict.fromkeys(s for a in methods.values() for s in a.signals)
    runs = dict.fromkeys(run_of(a) for a in methods.values() if a.query_attack)
    return Experiment(
        registry.build("data", setup.data),
        registry.build("model", setup.model),
        registry.build("game", setup.game),
        explain=tuple(e for e in explainers if e.gives != "surrogate"),  # these are queried by attack runs alone
        signal=tuple(registry.build("signal", text) for text in signals),
        runs=tuple(runs),
        seed=setup.seed,
        faithful=Faithful(setup.faithful) if setup.faithful else None,
    )


def _methods(setup: Loaded, found: Gathered, methods: dict[str, Method]) -> tuple[dict[str, Guesses], dict[str, str]]:
    """Guesses by method, and why others could not be made."""
    guesses = {}
    failed = {}
    person = setup.data.group_numbers()
    for name, method in methods.items():
        try:
            if method.query_attack:
                guesses[name] = _claimed(found.record(run_of(method)))
            if not method.attack:
                continue
            trial = trial_of(method)
            if unread := [n for n in trial.names if n not in found.evidence.names]:
                raise JaliError(f"{unread[0].signal} does not read what {method.explain or 'a prediction'} shows.")
            people = records_of(setup.data, stream(setup.parts.seed, STATISTICS, 5)) if needed([trial.attack]) else None
            made = _among(guess(found.evidence, setup.game, trial, people, person), method.among, found, setup.game)
            if not len(made.score):
                raise JaliError(f"Nobody was answered by {method.among}, so no record can be scored.")
            guesses[name] = made
        except JaliError as error:
            failed[name] = str(error)
    return guesses, failed


def _claimed(record: RunRecord) -> Guesses:
    if record.guesses is None:
        raise JaliError(record.failed or f"{registry.spec(record.run.attack)} makes no guess about each record.")
    return record.guesses


def _capped(
    given: Guarantees, seed: int, game: Game, guesses: dict[str, Guesses], methods: dict[str, Method]
) -> list[Capped]:
    """The results of attacks on parts with a guarantee, beside the caps under it."""
    out = []
    for name, made in guesses.items():
        if not methods[name].attack:
            continue
        trial = trial_of(methods[name])
        if (trial.explainer, trial.channel) in given:
            rows = rows_of(trial, dict.fromkeys(METRICS, made), game, stream(seed, STATISTICS, 2))
            out += [c.model_copy(update={"what": name}) for c in capped(rows, given)]
    return out


def _among(guesses: Guesses, explainer: str, found: Gathered, game: Game) -> Guesses:
    """The guesses about records that an explainer answered under the target."""
    if not explainer:
        return guesses
    label = registry.spec(registry.build("explain", explainer))
    first = next(s for s, name in enumerate(found.evidence.names) if name.explainer == label)
    return guesses.pick(found.evidence.observed[first][guesses.record, game.targets[guesses.unit]])


def _without_folders(text: str) -> str:
    """A message without the folders of this machine, for a page that others read."""
    for folder in _files.folders():
        text = text.replace(str(folder), "the data folder")
    return text


def _versions() -> dict[str, str]:
    out = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out


def _memory() -> float:
    """Peak of this process or of its largest worker, in MB."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0.0
    unit = 1024**2 if platform.system() == "Darwin" else 1024
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(w).ru_maxrss for w in who) / unit
