"""Checks an agent's message sentence by sentence against what tools found. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from services.attachments.papers import is_paper
from services.language.sentences.clauses import Clause
from services.language.sentences.links import EXCEPT, TOLD
from services.language.sentences.name_kinds import with_joined
from services.language.sentences.statements import Sentence, refs_in
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words
from services.statements import bare_answers, clause_parts
from services.statements.comparing.changes import of_figures
from services.statements.comparing.compare import compare_values
from services.statements.comparing.compare_absence import compare_absence, deny_all, topics_denied
from services.statements.comparing.compare_several import advises_untaken
from services.statements.comparing.linked import against_links, excepted
from services.statements.comparing.none_more import not_told
from services.statements.comparing.smoking import OF_SMOKING, compare_smoking
from services.statements.comparing.stated_rows import against_others
from services.statements.deeds import deed_told
from services.statements.grounds import Grounds, Speaker
from services.statements.noticed import tells_of_life
from services.statements.rows import subject
from services.statements.rows.happenings import happenings, judges_alone, with_courses
from services.statements.rows.known_words import has_none
from services.statements.rows.rows import told_of
from services.statements.rows.verdict import UNCHECKED, Verdict, worst
from services.statements.tables import cells_of, is_head, told_in_cells
from services.statements.times.durations import with_birth_day
from services.statements.unknown_prose import tells_unknown

OTHER_PATIENT = "A sentence about another patient was left out."

# By the first a sentence does not say that somebody's chart is open.
_NOT_OPEN, _DENIALS = frozenset({"no", "maybe", "not_yet"}), frozenset({"no", "nothing"})
_TELLING, _NAME_WORDS = ("about_patient", "asserts", "deed:", "newest", "planned"), 3
"""By these a sentence tells what somebody is, has or did, or as a name: "Dr. Hale."."""


class MessageCheck:
    """Checks the sentences of one message, in order: "it was 4.1" speaks of the one before."""

    def __init__(self, *, grounds: Grounds, speaker: Speaker) -> None:
        self.grounds = grounds
        self.speaker = speaker
        self._subject: tuple[str, ...] = ()
        self._last = UNCHECKED  # of the sentence before
        self._heading: tuple[str, ...] = ()
        self._lists: frozenset[str] = frozenset()
        self._stands: frozenset[str] = frozenset()  # what the heading says of what is beneath it
        self._columns: tuple[str, ...] = ()  # the heads of a table's
        self._before = ""  # the sentence before, which may ask
        self._has_heading = False  # which may say of when what stands beneath it is

    def check(self, text: str) -> Verdict:
        """Return what the rows say of `text`, one sentence; of one that cites a paper, the papers.

        What contradicts the record does so whatever it cites beside it.
        """
        before, self._before = self._before, text
        asks = "?" in before and self.speaker.reads_records
        if asks and (found := self._check(bare_answers.told_by(before, text))) is not UNCHECKED:
            return found
        denied, told = bare_answers.behind_denial(text, self.grounds.rows)
        if told:  # "No, it was stopped": what is told is no denial
            return worst([self.check(denied), self.check(told)])
        cited = refs_in(text)
        if not any(map(is_paper, cited)):
            sentence = self._read(text)
            return self._answered(sentence) or self._by_cells(text) or self._judge(text, sentence)
        own = UNCHECKED if all(map(is_paper, cited)) else self._check(text)
        return own if own.state == "contradicted" else self._by_papers(text)

    def _answered(self, sentence: Sentence) -> Verdict | None:
        """Return the verdict over an answer that names nothing: it is one to what was asked."""
        is_first = not (self._subject or self._heading)
        if not (self.grounds.asked and is_first and self.speaker.reads_records):
            return None
        found, self._subject = bare_answers.of_bare_answer(sentence, self.grounds, self._check), ()
        return found

    def _by_cells(self, text: str) -> Verdict | None:
        """Return the verdict over a row of a table by its cells; None where no head tells them."""
        if not text.lstrip().startswith("|"):
            self._columns = ()
            return None
        cells, head, rows = cells_of(text), self._columns, self.grounds.rows
        self._columns = head or cells
        if cells and not head and is_head(cells, rows):
            over = self._check(text)
            return UNCHECKED if over.state == "unsupported" else over
        found = [self._check(one) for one in told_in_cells(head, cells, rows)]
        # What follows a row of several columns is of any of them.
        self._subject = () if len(head) > len(("label", "value")) else self._subject
        return worst(found) if found else None

    def _by_papers(self, text: str) -> Verdict:
        """Compare with papers alone: what one lacks or has otherwise, the record does not say."""
        grounds = replace(self.grounds, rows=self.grounds.papers)
        found = MessageCheck(grounds=grounds, speaker=self.speaker)._check(text)
        return Verdict("unsupported") if found.state == "contradicted" else found

    def _read(self, text: str) -> Sentence:
        known = self.grounds.rows
        return known.read(with_joined(with_birth_day(text, known), known.titles))

    def _check(self, text: str) -> Verdict:
        return self._judge(text, self._read(text))

    def _judge(self, text: str, sentence: Sentence) -> Verdict:
        if self.grounds.is_of_another(text) and self._is_of_patient(sentence):
            return Verdict("contradicted", (), OTHER_PATIENT, is_withheld_whole=True)
        is_silent = sentence.is_question or not sentence.clauses or self._is_general(sentence)
        if is_silent or self.grounds.is_published(sentence):
            return UNCHECKED
        if EXCEPT in sentence.cues and (verdict := self._but(sentence)) is not None:
            return verdict
        sentence = clause_parts.as_headed(sentence, self._stands)
        sentence = with_courses(clause_parts.as_of_now(sentence, has_heading=self._has_heading))
        rows, judge = self.grounds.rows, partial(self._clause, sentence)
        sentence, verdicts = clause_parts.judged(sentence, rows, judge, self._last.sources)
        if len(verdicts) != 1 or verdicts[0].state == "contradicted":
            verdicts = against_others(sentence, verdicts, rows)
        kinds = self._lists if sentence.is_item else clause_parts.listed_kinds(sentence)
        is_list = self.speaker.reads_records and not sentence.cues & _DENIALS
        if is_list and clause_parts.lists_unknown(sentence, kinds, rows):
            verdicts = [Verdict("unsupported")]
        for reason in clause_parts.reasons_of(sentence):
            told = self._concluded(reason, [self._clause(reason, one) for one in reason.clauses])
            verdicts += [told] if told.state in ("unsupported", "contradicted") else []
        if self._tells_of_strangers(text, sentence, is_so=worst(verdicts).state == "supported"):
            verdicts = [Verdict("unsupported"), *verdicts]
        self._remember(sentence)
        self._last = self._concluded(sentence, verdicts)
        return self._last

    def _but(self, sentence: Sentence) -> Verdict | None:
        """Return the verdict over "no drug other than A": without the rows of A there is none."""
        link = next(iter(sentence.reader.links("except") if sentence.reader else ()), None)
        if link is None or "no" not in link.first.cues:
            return None
        main, rows = excepted(link, self.grounds.rows)
        if not rows:
            return Verdict("unsupported")
        others = replace(self.grounds, rows=self.grounds.rows.without(rows))
        check = MessageCheck(grounds=others, speaker=self.speaker)
        return worst([subject.supported(rows), *(check._clause(sentence, one) for one in main)])

    def _tells_of_strangers(self, text: str, sentence: Sentence, *, is_so: bool) -> bool:
        """Whether a sentence that would pass is of somebody whom neither rows nor users name."""
        is_told = is_so or (len(sentence.words) <= _NAME_WORDS and not sentence.is_heading)
        is_told |= any(one.startswith(_TELLING) for one in sentence.cues)
        is_told &= self.speaker.reads_records and not sentence.asks
        is_of_doctor = is_told and self.grounds.is_other_doctor(text)
        return is_of_doctor or (is_so and self.grounds.is_other_person(text))

    def _concluded(self, sentence: Sentence, verdicts: Sequence[Verdict]) -> Verdict:
        found = worst([one for one in verdicts if one is not UNCHECKED])
        is_row = sentence.asks or sentence.text.strip(" -*.") in found.record_says
        if found.state == "supported" and sentence.reader is not None and not is_row:
            found = against_links(sentence.reader.links(*TOLD), self.grounds.rows) or found
        is_known = self.grounds.rows.sources.issuperset(sentence.refs)
        if not is_known and found.state in ("supported", "unchecked"):
            return Verdict("unsupported", found.sources, "")
        if found.state == "unchecked" and (self.speaker.reads_records or tells_of_life(sentence)):
            is_alone = tells_unknown(sentence, self.grounds.rows, self.grounds.own_names)
            is_alone = is_alone or judges_alone(sentence, self.grounds.rows.rows)
            return Verdict("unsupported") if is_alone else found
        if found.state == "supported" and (
            clause_parts.cites_another(sentence, self.grounds.rows)
            or self._adds_unknown(sentence, found)
        ):
            return Verdict("unsupported", found.sources, found.record_says)
        return found

    def _adds_unknown(self, sentence: Sentence, found: Verdict) -> bool:
        """Whether the rows that support a sentence have no word of what it says besides."""
        if not self.speaker.reads_records or "as_you_said" in sentence.cues or not found.sources:
            return False
        return clause_parts.adds_beside(
            sentence, found.sources, self.grounds.rows, self.grounds.own_names
        )

    def _clause(self, sentence: Sentence, clause: Clause) -> Verdict:
        if "as_you_said" in sentence.cues:
            return bare_answers.as_you_said(clause, self.grounds.held)
        deed = deed_told(sentence, clause, self.grounds, self.speaker)
        if deed is not None:
            return deed
        clause = subject.without_picture(clause)
        named = subject.without_setting(clause) or self._carried(sentence, clause)
        names = clause_parts.names_measured(self.grounds.rows, clause, named)
        if clause.smoking:
            return self._smoking(sentence, clause)
        if (figures := of_figures(sentence, clause, names, self.grounds.rows)) is not None:
            return figures
        is_unchanged = "steady" in clause.cues and clause.says("changes") and not names
        if is_unchanged or clause.cues & _DENIALS:
            return self._absence(sentence, clause, names)
        is_untaken = self._advises_untaken(sentence, clause)
        if not (is_untaken or self._is_stated(sentence, clause, names)):
            return UNCHECKED
        if is_untaken or self._unknown_object(clause):
            return Verdict("unsupported")
        clause = clause_parts.value_alone(clause, asks=sentence.asks)
        found = compare_values(clause, self.grounds.rows, names=names, cited=sentence.refs)
        return clause_parts.by_own_words(clause, names, found, self.grounds.rows)

    def _smoking(self, sentence: Sentence, clause: Clause) -> Verdict:
        rows = self.grounds.rows
        if not clause.own_names or not {*clause.names} - OF_SMOKING:
            return compare_smoking(clause, rows)
        told = compare_smoking(replace(clause, dates=(), quantities=()), rows)
        return worst([told, self._clause(sentence, replace(clause, smoking=""))])

    def _advises_untaken(self, sentence: Sentence, clause: Clause) -> bool:
        is_of_patient = "about_patient" in sentence.cues or clause.says("devices")
        is_told = sentence.asks or ("maybe" in clause.cues and is_of_patient)
        return is_told and self.speaker.reads_records and advises_untaken(clause, self.grounds.rows)

    # -- what is stated -------------------------------------------------------------------------

    def _is_stated(self, sentence: Sentence, clause: Clause, names: tuple[str, ...]) -> bool:
        """Whether a clause states something of the patient that can be compared."""
        if not self.speaker.reads_records and not self._is_clinical(clause):
            return False
        is_hypothetical = sentence.asks or "maybe" in clause.cues
        if clause.quantities or clause.stages or clause.often:
            return not is_hypothetical or clause_parts.tells_value(clause, asks=sentence.asks)
        if clause.dates or clause.codes:
            return not sentence.asks and (bool(clause.names) or not sentence.is_heading)
        if is_hypothetical or sentence.is_heading or subject.is_setting(clause):
            return False
        is_answer = sentence.is_item or not (self._subject or self._heading)  # "Left lung."
        if clause.sites and (clause.names or "asserts" in clause.cues or is_answer):
            return True
        if "asserts" in clause.cues and not clause.names and subject.person_groups(clause):
            return True
        if clause.objects and not clause.names:
            return self._unknown_object(clause)
        is_last = "newest" in clause.cues and clause.says("doctor") and len(clause.topics) == 1
        return bool(clause.own_names and clause.names) or is_last

    def _is_clinical(self, clause: Clause) -> bool:
        if any(map(clause_parts.is_of_record, clause.names)) or clause.stages:
            return True
        is_told = clause.has_values or "about_patient" in clause.cues
        is_of_group = is_told and any(name.startswith("=") for name in clause.names)
        is_taken = "takes" in clause.cues and not {*clause.objects}.isdisjoint(clause.names)
        return is_of_group or is_taken or bool(clause.objects and "clinical" in clause.cues)

    def _unknown_object(self, clause: Clause) -> bool:
        """Whether somebody takes, has or is allergic to what no row has a word of."""
        rows = self.grounds.rows
        is_named = any(rows.about([one]) for one in clause.names)
        return bool(clause.objects) and not is_named and has_none(clause.objects, rows.words)

    def _absence(self, sentence: Sentence, clause: Clause, names: tuple[str, ...]) -> Verdict:
        is_of_all = clause.says("changes") and not names  # "no change since the last visit"
        topics = clause.topics if "no" in clause.cues and not is_of_all else ()
        rows = self.grounds.rows
        before = next((one for one, here in pairwise(sentence.clauses) if here is clause), None)
        untold = not_told(clause, before, rows, names)
        if untold is not None:
            return untold
        is_beside = not (clause.own_names or clause.says("who"))
        if is_beside and (told := told_of(clause.words) - statement_words().neutral):
            # "…, no statin on the list" and "no new lesion" are of others; "…, not ulcerated"
            every = () if clause.exclusive else rows.about(clause.names)
            is_there = any(told <= one.words for one in every if not one.negated)
            return Verdict("unsupported") if is_there else UNCHECKED
        about = tuple(dict.fromkeys((*clause.names, *(topics_denied(clause) or topics))))
        about = about or (tuple(names) if "recorded" in clause.cues else clause.objects)
        is_open = sentence.asks or sentence.is_question or "maybe" in clause.cues
        if is_open or not (about or self.speaker.reads_records):
            return UNCHECKED
        if clause.stages and not clause.names:  # "Stage is not IVB."
            so = compare_values(replace(clause, cues=clause.cues - {"no"}), rows, names=()).state
            return Verdict("unsupported" if so == "supported" else "unchecked")
        if not about and not (happenings(clause) or clause.says("in_hospital")):
            return deny_all(clause, self.grounds.rows)
        is_listed = not clause_parts.CLINICAL_TOPICS.isdisjoint(about)
        if not (self.speaker.reads_records or is_listed or self._is_clinical(clause)):
            return UNCHECKED
        # "No problems and no medications", "weder Trinessa noch Natazia": each for itself.
        is_each = about and (not clause.names or clause.says("neither"))
        each_of = [(one,) for one in about] if is_each else [about]
        return worst([compare_absence(clause, self.grounds.rows, names=one) for one in each_of])

    def _is_of_patient(self, sentence: Sentence) -> bool:
        if self.speaker.reads_records:
            return True
        return any(
            one.stages
            or one.smoking
            or any(each.unit for each in one.quantities)
            or (one.names and one.cues & {"no", "asserts"} and "maybe" not in one.cues)
            or (
                ("of_chart" in one.cues or (one.words & saying("opens") and not sentence.asks))
                and not (sentence.is_question or one.cues & _NOT_OPEN)
            )
            for one in sentence.clauses
        )

    def _is_general(self, sentence: Sentence) -> bool:
        may_be = self.speaker.may_be_general and "about_patient" not in sentence.cues
        return may_be and any(one in sentence.text.lower() for one in ("general", "allgemein"))

    def _carried(self, sentence: Sentence, clause: Clause) -> tuple[str, ...]:
        if sentence.is_item and self._heading:
            return self._heading
        carried = self._subject or subject.called_by_source(sentence, clause, self.grounds.rows)
        return carried if clause.has_values and not clause.stages else ()

    def _remember(self, sentence: Sentence) -> None:
        named = [one.names for one in sentence.clauses if one.names and one.own_names]
        self._has_heading = self._has_heading or sentence.is_heading
        if sentence.is_heading:
            self._heading, self._stands = (named[-1] if named else ()), sentence.cues
            self._lists = clause_parts.listed_kinds(sentence)
        elif sentence.is_item and sentence.text.lstrip().startswith("|") and not named:
            self._lists = clause_parts.listed_kinds(sentence) or self._lists
            self._has_heading |= not clause_parts.is_plain_head(sentence)
        elif not sentence.is_item and sentence.text.strip():
            self._heading, self._lists, self._stands = (), frozenset(), frozenset()
        if named or sentence.is_heading:
            self._subject = named[-1] if named else ()
