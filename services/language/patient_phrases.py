"""The plain wordings that code understands by itself, as patterns over a text's shape.

A shape is lower-case text with `<id>`, `<unfit>` and `<15>` in place of ids and numbers
(`candidates.Candidates.shape`). What these patterns do not know, a model is asked.
"""

import re

_MOVE = (
    r"(?:switch|change|go|move|jump|return|get|come|turn|swap)(?:\s+(?:back|over))*\s+to|back\s+to"
)
_SWITCH = rf"(?:{_MOVE}|switch|open|activate|select|load)"
_SWITCH_ELSEWHERE = (
    r"(?:(?:wieder\s+)?zur(?:ü|u|ue)ck\s+zu[mr]?|(?:wechs(?:le|ele|eln)|geh|gehe|spring|springe)"
    r"(?:\s+(?:bitte|wieder|zur(?:ü|u|ue)ck))*\s+zu[mr]?|(?:ö|o|oe)ffne(?:\s+bitte)?"
    r"|retour\s+(?:à|a|au)|(?:reviens|revenons|passe)\s+(?:à|a|au)|ouvre"
    r"|(?:vuelve|volver|volvamos|cambia)\s+al?|abre|torna\s+a|apri)"
)
_WORK = (
    r"(?:review|show|see|view|start|begin|prepare|pull\s+up|bring\s+up|look\s+(?:at|into)|work\s+on"
    r"|continue\s+with|proceed\s+with|discuss|present|summari[sz]e|assess|evaluate|check"
    r"|analy[sz]e|run|give|tell|list|create|generate|describe|find|get|plan|schedule|draft|write"
    r"|make|compile|explain|talk\s+about|focus\s+on)"
)
_NUMBER = r"(?:(?:number|no\.?|nr\.?|id|\#)[\s:=]*)*<\d+>"
_PATIENT = r"(?:patient(?:s|en|in|innen|e|es)?|pacientes?|pazient[ei])"
# "PT 15" is a clotting time; where a patient stands it is short for one.
_ONE_PATIENT = r"(?:patient(?:en|in|e)?|paciente|paziente)"
_OTHER = r"(?:other|anderen?|anderer|autre|otr[oa]|altr[oa])"
_SHORT = r"(?:^|\b(?:of|for|to|about|is|does|has|was|open)\s+)(?:pt|pat)\.?_?"
_OBJECT = r"(?:(?:the|patient|case|chart|record|id|of|for)\s+)*"
_TARGET = rf"(?:<id>|<unfit>|patient[\s:=]*{_NUMBER})"
_END = (
    r"(?:\s*'s)?(?:\s+(?:please|pls|now|instead|again|then|bitte|jetzt|wieder|ahora|maintenant))*"
    r"[\s.!?]*"
)
# What follows a number that counts or measures something.
_UNIT = (
    r"(?!\s*(?:%|st\b|nd\b|rd\b|th\b|[xX]\b|/|-|(?:days?|weeks?|wks?|months?|mos?|years?|yrs?|y|yo|hours?|hrs?"
    r"|minutes?|mins?|mg|g|kg|lbs?|mcg|ug|ml|dl|l|cm|mm|m|gy|mmol|units?|cycles?|doses?|times|lesions?"
    r"|nodes?|fractions?|of|out|percent|male|female|degrees?|secs?|seconds?|s|sec|jahre?|ans|anos|anni|años)\b))"
)

LEAD = re.compile(
    r"(?:@[\w-]+|[a-z]\w*:(?=\s)|(?:no|nein)(?=[,.!;])|(?:please|pls|ok|okay|so|now|then|and|also|but|well|right"
    r"|hi|hello|hey|thanks|thank\s+you|great|good|fine|sorry|oops|yes|just|can\s+you|could\s+you"
    r"|would\s+you|can\s+we|could\s+we|shall\s+we|let's|lets|let\s+us|i\s+want\s+to|i'd\s+like\s+to"
    r"|i\s+would\s+like\s+to|(?:no\s+)?i\s+mean(?:t)?|(?:nein\s+)?ich\s+mein(?:te|e)|we\s+need\s+to|i\s+need\s+to|we\s+should)\b)[\s,.!;:-]*"
)
"""One polite or addressing beginning; strip them one by one."""


def behind_leads(text: str) -> int:
    """Return where `text` begins behind all its polite and addressing words."""
    place, lowered = 0, text.lower()
    while (lead := LEAD.match(lowered, place)) is not None:
        place = lead.end()
    return place


PLAYED_ROLE = re.compile(
    r"(?im)^[\s>*_`#\[(<|]*(?:system|developer|assistant|tool|function)[\s\])>|*_`]*:"
    r"|<\|im_start\|>|\[/?inst\]|<<(?:server|data)\b|</?(?:system|instructions?|assistant|tool_call)>"
)
"""What plays the part of the server or of a model in a text: pasted, whoever sent it."""

BARE_SWITCH = re.compile(
    rf"(?:(?:{_SWITCH}|{_SWITCH_ELSEWHERE}|use|choose|pick)\s+{_OBJECT})?{_TARGET}{_END}"
)
"""Nothing but a change of patient, by an id or by "patient 15"."""

BARE_SWITCH_BY_NUMBER = re.compile(
    rf"(?:{_MOVE}|switch|open|activate|select)\s+{_OBJECT}{_NUMBER}{_END}"
)
"""Nothing but a change of patient, by bare digits: "switch to 15"."""

BARE_SWITCH_TO_OTHER = re.compile(
    rf"(?:(?:{_SWITCH}|{_SWITCH_ELSEWHERE})\s+)?(?:(?:the|der|die|den|el|la|al|l')\s*)?"
    rf"{_OTHER}\s+(?:{_ONE_PATIENT}|one|case|chart){_END}"
    rf"|(?:der\s+andere|die\s+andere|den\s+anderen){_END}"
)

WITHOUT_TARGET = re.compile(
    r"(?:switch|change|open|select|choose|load)\s+(?:to\s+)?"
    rf"(?:(?:a|an|the|another|different|new|next|some)\s+)*patients?{_END}"
)
"""A change of patient that does not say to whom."""

ACTIVATES = re.compile(rf"(?:{_SWITCH}|{_WORK})\b[^.?!;]*?{_TARGET}")
"""An order whose object is a patient."""

TOPIC = re.compile(
    rf"(?:(?:what|how)\s+about|about|for|on|regarding|re|next)?\s*{_TARGET}(?:[:,]|{_END}$)"
)
"""A message that begins with its patient, as a heading."""

STRONG_NUMBERS = re.compile(
    rf"(?:\b{_PATIENT}|{_SHORT})[\s:=]*({_NUMBER}(?:\s*(?:,|and|or|&)\s*<\d+>)*){_UNIT}"
    rf"|(?:{_MOVE})\s+{_OBJECT}({_NUMBER}){_UNIT}"
    rf"|(?:what|how)\s+about\s+({_NUMBER})[\s?.!]*$"
    rf"|^(?:switch|open|activate|select)\s+{_OBJECT}({_NUMBER}){_END}$"
)
"""Numbers said in place of an id, one group each way of saying."""

WEAK_NUMBER = re.compile(rf"<(\d+)>{_UNIT}")
"""A number that may be short for an id; what it counts would follow."""

ANY_NUMBER = re.compile(r"<(\d+)>")

UNFIT_TARGET = re.compile(
    rf"(?:{_SWITCH}|{_WORK})\s+{_OBJECT}<unfit>"
    rf"|^(?:{_SWITCH}|{_WORK})\b[^.?!;]{{0,200}}?\b(?:to|of|for|on|about|me|us)\s+{_OBJECT}<unfit>"
    rf"|^(?:(?:what|how)\s+about|about|for|on|regarding|re|next)?\s*{_OBJECT}<unfit>(?:[:,]|{_END}$)"
)
"""A token meant as an id that is none, where an order or a heading has its patient."""

_FORMER = (
    r"(?:previous|prior|last|vorherige[nr]?|vorige[nr]?|letzte[nr]?"
    r"|pr(?:é|e)c(?:é|e)dente?|dernier|derni(?:è|e)re|anterior|(?:ú|u)ltim[oa]|precedente)"
)
_PERSON = r"(?:lady|gentleman|man|woman|person|frau|mann|dame|herr)"
_SOMEBODY = rf"(?:{_ONE_PATIENT}|one|case|chart|{_PERSON})"
_EARLIER = r"(?:(?:from\s+)?(?:before|earlier)\b(?!\s+\w)|davor|zuvor|von\s+(?:vorhin|eben|vorher))"
_ABOUT = r"(?:what|how)\s+about|was\s+ist\s+mit"
_THE = r"(?:(?:the|der|die|den|el|la|al|l')\s*)?"
OTHER_PATIENT = re.compile(
    rf"\b(?:{_OTHER}|another|previous|prior|next|first|last|second|different|vor(?:her)?ige[nr]?)"
    rf"\s+(?:{_ONE_PATIENT}|pt)\b"
    r"(?!\s*(?:'s|visit|note|encounter|contact|appointment|record|report|scan|message|question))"
    # "Go back to the previous one": alone, "the previous one" may be of a list.
    rf"|\b(?:{_SWITCH}|{_SWITCH_ELSEWHERE})\s+{_THE}"
    rf"(?:{_FORMER}(?:\s+{_SOMEBODY})?|{_SOMEBODY}\s+(?:before|davor|von\s+vorhin)){_END}$"
    rf"|^(?:(?:and|und|next|now|{_ABOUT})\s+)?{_THE}(?:{_ONE_PATIENT}|{_PERSON})\s+{_EARLIER}"
)
"""Somebody other than the active patient is meant, or seems to be."""

THE_OTHER = re.compile(rf"\b{_OTHER}\s+(?:{_ONE_PATIENT}|one|case|chart)\b")

PASSING = re.compile(
    r"n't\b|\b(?:compar\w*|versus|vs|than|like|unlike|same|similar\w*|differ\w*|whereas|both"
    r"|instead\s+of|not|never|without|except|if|unless|before|after|when|until|other|another|clear"
    r"|reset|forget|delete|remove|erase|wipe|mention\w*|refer\w*|because|why|whether|means?)\b"
)
"""Words beside which an id may be named without being turned to."""

NEGATED = re.compile(
    r"(?:n't\b|\b(?:not|never|dont|without|cannot|stop|avoid|no\s+need\s+to|rather\s+than"
    rf"|instead\s+of)\b)[^.?!;]{{0,200}}?{_TARGET}"
)

CLEARS = re.compile(
    r"(?!forget\s+(?:about\s+)?(?:that|this)[\s.!?]*\Z)(?:clear|reset|forget|erase|wipe|delete|remove|start\s+over|start\s+again)"
    r"(?:\s+(?:out|up|the|this|that|all|my|our|your|current|active|of|about|whole|entire|everything"
    r"|patients?|contexts?|chat|conversation|session|history|histories|data|memory|<id>|and|please"
    r"|now))*[\s.!?]*"
)
"""A wish to clear that is not the exact command: it is asked about first.

"Forget that" is how people say "never mind"."""

CHANGE_WORDS = re.compile(
    r"\b(?:patient|clear|reset|forget|switch|change)(?:s|es|ed|d|ing|ting|ched|'s)?\b"
)
"""The words that always let a model read the message (spec page 1.3)."""

RELATIVE_WORDS = re.compile(r"\b(?:others?|another|previous|back|next|first|last|second)\b")
"""The words that do so once there are two patients."""
