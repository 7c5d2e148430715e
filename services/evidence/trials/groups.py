"""What criteria call treatments and cancers by one word. Public pharmacology and oncology."""

from collections.abc import Mapping

from services.records.concepts.words import words_of

_PLATINUM = "cisplatin carboplatin oxaliplatin"
_TAXANES = "docetaxel paclitaxel cabazitaxel"
_CHEMOTHERAPY = (
    f"{_PLATINUM} {_TAXANES} capecitabine fluorouracil pemetrexed gemcitabine etoposide irinotecan "
    "vinorelbine doxorubicin epirubicin cyclophosphamide temozolomide dacarbazine"
)
_PD1 = "pembrolizumab nivolumab cemiplimab atezolizumab durvalumab avelumab dostarlimab"
_EGFR = "osimertinib gefitinib erlotinib afatinib dacomitinib"
_BRAF = "dabrafenib vemurafenib encorafenib"
_DOACS = "apixaban rivaroxaban edoxaban dabigatran"
TREATMENTS: Mapping[str, frozenset[str]] = {
    name: frozenset(words_of(drugs))
    for names, drugs in (
        ("chemotherapy|systemic chemotherapy|cytotoxic chemotherapy", _CHEMOTHERAPY),
        ("platinum|platinum based chemotherapy|platinum chemotherapy", _PLATINUM),
        ("taxane|taxanes", _TAXANES),
        ("immunotherapy|checkpoint inhibitor|immune checkpoint inhibitor", f"{_PD1} ipilimumab"),
        ("anti pd 1|pd 1 inhibitor|anti pd 1 therapy|pd 1 or pd l1 inhibitor", _PD1),
        ("egfr tki|egfr tyrosine kinase inhibitor|egfr inhibitor", _EGFR),
        ("braf inhibitor", _BRAF),
        ("mek inhibitor", "trametinib cobimetinib binimetinib"),
        ("parp inhibitor", "olaparib niraparib rucaparib talazoparib"),
        ("anticoagulant|anticoagulation|therapeutic anticoagulation|oral anticoagulant",
         f"{_DOACS} warfarin phenprocoumon heparin enoxaparin"),
        ("direct oral anticoagulant|doac", _DOACS),
        ("warfarin", "warfarin"),
        ("corticosteroid|systemic corticosteroid|steroid|systemic steroid",
         "prednisone prednisolone dexamethasone hydrocortisone methylprednisolone"),
        ("opioid", "morphine oxycodone fentanyl hydromorphone tramadol"),
        ("ssri|selective serotonin reuptake inhibitor",
         "sertraline citalopram escitalopram fluoxetine paroxetine"),
        ("her2 directed therapy|anti her2 therapy", "trastuzumab pertuzumab lapatinib tucatinib"),
        ("androgen deprivation|androgen deprivation therapy",
         "leuprorelin leuprolide goserelin degarelix triptorelin"),
    )
    for name in (" ".join(words_of(one)) for one in names.split("|"))
}  # fmt: skip
"""Compared form of a name, and the drugs that it stands for."""
PROCEDURES: Mapping[str, tuple[frozenset[str], ...]] = {
    " ".join(words_of(name)): tuple(frozenset(words_of(one)) for one in said.split("|"))
    for name, said in (
        ("radiotherapy", "radiotherapy|radiosurgery|radiation"),
        ("radiation", "radiotherapy|radiosurgery|radiation"),
        ("radiation therapy", "radiotherapy|radiosurgery|radiation"),
        ("brain radiotherapy", "stereotactic radiosurgery brain"),
    )
}
CANCERS: Mapping[str, tuple[frozenset[str], ...]] = {
    " ".join(words_of(name)): tuple(frozenset(words_of(one)) for one in said.split("|"))
    for names, said in (
        ("lung cancer|carcinoma of the lung", "lung adenocarcinoma|lung carcinoma|lung cancer"),
        ("non-small cell lung cancer|non small cell lung carcinoma|nsclc",
         "lung adenocarcinoma|lung squamous|non small cell"),
        ("adenocarcinoma of the lung|lung adenocarcinoma|non-squamous nsclc|"
         "non-squamous non-small cell lung cancer", "lung adenocarcinoma"),
        ("breast cancer|carcinoma of the breast|invasive breast cancer",
         "breast carcinoma|breast cancer"),
        ("colorectal cancer|colorectal carcinoma|colorectal adenocarcinoma",
         "colon adenocarcinoma|colon cancer|rectum adenocarcinoma|colorectal"),
        ("colon cancer|colon adenocarcinoma", "colon adenocarcinoma|colon cancer"),
        ("prostate cancer|adenocarcinoma of the prostate|prostate adenocarcinoma",
         "prostate adenocarcinoma|prostate cancer"),
        ("melanoma|cutaneous melanoma|malignant melanoma", "malignant melanoma"),
        ("brain metastases|cns metastases|central nervous system metastases",
         "metastasis brain"),
        ("liver metastases|hepatic metastases", "metastasis liver"),
        ("bone metastases", "metastasis bone"),
        ("lung metastases|pulmonary metastases", "metastasis lung"),
        ("pancreatic cancer", "pancreas adenocarcinoma|pancreas carcinoma"),
    )
    for name in names.split("|")
}  # fmt: skip
"""Compared form of a name, and the words that a problem has to hold."""
