import { describe, expect, test } from "vitest";

import { bracketed, claimsInText } from "../src/claims";
import { instantOf, shownDate } from "../src/dates";
import { sourceNumber, toHtml } from "../src/markdown";
import { findPassage } from "../src/passage";
import { applyPatch } from "../src/patch";
import { german } from "../src/strings_de";
import { hueOf, identityText, initialsOf } from "../src/patient_mark";
import { bandOf, type Series, scaleOf, seriesOf } from "../src/series";
import { timelineOf, zoomed } from "../src/timeline";
import { spaced, withNamesSpaced, withoutHandBack } from "../src/words";
import { rowOf } from "./scenes";

/** The browser's own tests say what becomes of hostile text: its cleaner is not to be trusted outside one. */
const html = (text: string, refs: string[] = []): string => String(toHtml(text, refs)).trim();
const words = (markup: string): string => markup.replace(/<\/?p[^>]*>/g, "");

describe("text of a model", () => {
  test.each(["response ~60%/~40%, target INR 2~3", "5*3*2 cm", "H~2~O"])("is shown as typed: %s", (typed) => {
    expect(words(html(typed))).toBe(typed);
  });

  test("cites by number, and leaves a reference that was not given as it stands", () => {
    expect(html("IVA [Condition/c1]", ["Condition/c1"])).toContain('href="#source-1"');
    expect(html("IVA [Condition/c2]", ["Condition/c1"])).toContain("[Condition/c2]");
    expect(sourceNumber("#source-12")).toBe(12);
    expect(sourceNumber("#elsewhere")).toBeNull();
  });

  test("hands back to nobody on the screen", () => {
    const agents = ["Orchestrator"];
    expect(withoutHandBack("Stage IVA.\n\nBack to you *Orchestrator*.", agents)).toBe("Stage IVA.");
    expect(withoutHandBack("Back to you *Orchestrator*.", agents)).toBe("Back to you *Orchestrator*.");
    expect(withoutHandBack("Pain.\nBack to you, Margaret.", agents)).toContain("Margaret");
  });

  test("has agents' names as they are read, and nothing else so", () => {
    expect(["PatientStatus", "MDTBoard2", "Radiology"].map(spaced)).toEqual([
      "Patient Status",
      "MDTBoard2",
      "Radiology",
    ]);
    expect(withNamesSpaced("*PatientStatus*, see McDonald and @PatientStatus", ["PatientStatus"])).toBe(
      "*Patient Status*, see McDonald and @PatientStatus",
    );
  });
});

describe("claims", () => {
  const claim = (start: number, end: number) => ({
    start,
    end,
    state: "unsupported" as const,
    sources: [],
    record_says: "",
  });

  test("are counted in characters, also behind a sign of two units", () => {
    expect(bracketed("🫀 fine. Not so.", [claim(8, 15)])).toBe("🫀 fine. ⸢Not so.⸣");
  });

  test("leave the marks of a list before the bracket", () => {
    expect(bracketed("- made up", [claim(0, 9)])).toBe("- ⸢made up⸣");
  });

  test("are told at the end of a copy, with what the record says", () => {
    const told = claimsInText("Dose 5 mg.", [
      { ...claim(0, 10), state: "contradicted", record_says: "80 mg" },
    ]);
    expect(told).toContain("80 mg");
    const source = { ...claim(0, 10), state: "contradicted" as const, sources: ["Observation/k-1"] };
    const [sent, dose] = ["Nothing was sent in this conversation.", "80 mg"].map((says, place) =>
      claimsInText("A", [{ ...source, record_says: says, sources: source.sources.slice(1 - place) }]),
    );
    expect(sent).not.toContain("The record says");
    expect(dose).toContain("The record says: 80 mg");
    expect(claimsInText("Dose 80 mg.", [])).toBe("Dose 80 mg.");
  });
});

describe("dates", () => {
  test.each([
    ["2026-12-02", "2 Dec 2026"],
    ["2026-12", "Dec 2026"],
    ["2026", "2026"],
    ["unknown", "unknown"],
  ])("%s is shown as %s", (recorded, shown) => {
    expect(shownDate(recorded)).toBe(shown);
  });

  test("a time is given where it is wanted, in the record's own offset", () => {
    expect(shownDate("2026-12-02T23:30:00-05:00", true)).toBe("2 Dec 2026, 23:30");
    expect(shownDate("2026-12-02T23:30:00-05:00")).toBe("2 Dec 2026");
  });

  test("what is no date has no place in time", () => {
    expect(instantOf("soon")).toBeNull();
    expect(instantOf("2026-12-02")).toBe(Date.UTC(2026, 11, 2));
  });
});

describe("a drawing", () => {
  const rows = [
    rowOf({ date: "2026-12-02", number: 4.1 }),
    rowOf({ date: "2026-11-02", number: 3.4 }),
    rowOf({ date: "2026-11-03", number: 12, unit: "mg/dL" }),
    rowOf({ date: "2026-11-04", number: null, value: "haemolysed" }),
  ];

  test("holds one unit, the oldest first, and no single point", () => {
    expect(seriesOf(rows).map((one) => one.points.map((point) => point.value))).toEqual([[3.4, 4.1]]);
  });

  test("has a band only where all values have the same range", () => {
    expect(seriesOf(rows)[0]?.band).toEqual({ low: 3.5, high: 5.1 });
    const mixed = rows.map((row, at) => ({ ...row, range: at === 0 ? "3.6-5.2" : "3.5-5.1" }));
    expect(seriesOf(mixed)[0]?.band).toBeNull();
  });

  test.each([
    ["<5", { low: null, high: 5 }],
    [">=60", { low: 60, high: null }],
    ["1.0 – 2.5", { low: 1, high: 2.5 }],
    ["negative", null],
  ])("reads the range %s", (range, band) => {
    expect(bandOf(range)).toEqual(band);
  });

  test("has a scale that holds every value and never goes below zero for none that does", () => {
    const [series] = seriesOf([
      rowOf({ date: "2026-01-01", number: 0 }),
      rowOf({ date: "2026-01-02", number: 97 }),
    ]);
    const scale = scaleOf(series as Series);
    expect(scale.low).toBe(0);
    expect(scale.high).toBeGreaterThanOrEqual(97);
  });
});

describe("a passage", () => {
  test("is the quoted words, whatever their case and spaces", () => {
    const text = "History.\nStage   IVA since May. Pain controlled.";
    const found = findPassage(text, "stage iva since may", null);
    expect(text.slice(found?.start, found?.end)).toBe("Stage   IVA since May");
    expect(found?.isQuote).toBe(true);
  });

  test("is else the sentence that shares most, and says that it is no quote", () => {
    const text = "Nothing here. Osimertinib 80 mg daily was begun in May 2024.";
    const found = findPassage(text, null, "Takes osimertinib 80 mg daily");
    expect(text.slice(found?.start, found?.end)).toBe("Osimertinib 80 mg daily was begun in May 2024.");
    expect(found?.isQuote).toBe(false);
  });

  test("is nothing where nothing fits", () => {
    expect(findPassage("Nothing here.", null, "Potassium was low in May")).toBeNull();
  });
});

describe("a patch", () => {
  test("changes a copy, in lists and under keys with a slash", () => {
    const before = { list: [1, 3], "a/b": "x" };
    const changed = applyPatch(before, [
      { op: "add", path: "/list/1", value: 2 },
      { op: "replace", path: "/a~1b", value: "y" },
      { op: "remove", path: "/list/0" },
    ]);
    expect(changed).toEqual({ list: [2, 3], "a/b": "y" });
    expect(before).toEqual({ list: [1, 3], "a/b": "x" });
  });

  test("that does not fit is refused", () => {
    expect(() => applyPatch({ a: 1 }, [{ op: "replace", path: "/b/c", value: 1 }])).toThrow();
  });
});

describe("who a patient is", () => {
  const person = { name: "Margaret Anne Whitfield", birth_date: "1957-03-14", sex: "female" };

  test.each([
    [person, "patient_4", "MW"],
    [{ ...person, name: "Çelik, Ayşe" }, "p", "ÇA"],
    [{ ...person, name: "" }, "patient_4", "4"],
    [null, "abc-123456", "456"],
  ])("has letters of the name, or the end of the number", (one, id, letters) => {
    expect(initialsOf(one, id)).toBe(letters);
  });

  test("no two of the first twelve share a hue, and the thirteenth is told apart", () => {
    const people = new Map(Array.from({ length: 13 }, (_, at) => [`patient_${at}`, null]));
    const hues = [...people.keys()].map((id) => hueOf(people, id));
    expect(new Set(hues).size).toBe(13);
  });

  test("is written on files with name, birth date, sex and id", () => {
    expect(german.banner.sex("female")).toBe("weiblich");
    expect(german.tool.names.search_record).toBe("In der Akte suchen");
    const line = identityText(new Map([["patient_4", person]]), "patient_4");
    for (const part of ["Margaret Anne Whitfield", "1957", "female", "patient_4"])
      expect(line).toContain(part);
  });
});

describe("a timeline", () => {
  const event = (kind: string, name: string, date: string, more = {}) =>
    rowOf({ kind, name, date, number: null, ...more });

  test("draws what lasts above what happened, and leaves out what has no date", () => {
    const drawn = timelineOf([
      event("procedure", "Biopsy", "2024-02-29"),
      event("medication", "Osimertinib", "2024-03-20", { status: "active" }),
      event("problem", "Pneumonia", "2025-01", { end: "2025-02-03" }),
      event("note", "Undated", ""),
    ]);
    expect(drawn?.lanes).toEqual(["Pneumonia", "Osimertinib", "Procedures"]);
    expect(drawn?.events.map(({ row, to }) => [row.name, to === Number.POSITIVE_INFINITY])).toEqual([
      ["Biopsy", false],
      ["Osimertinib", true],
      ["Pneumonia", false],
    ]);
    expect(drawn?.whole.to).toBe(Date.UTC(2025, 1, 3));
  });

  test("of one moment is none", () => {
    expect(timelineOf([event("note", "Letter", "2024-02-29")])).toBeNull();
  });

  test("is never zoomed beyond its ends nor to nothing", () => {
    const whole = { from: 0, to: 100 * 24 * 3600 * 1000 };
    expect(zoomed(whole, whole, 0, 0.5)).toEqual({ from: 0, to: whole.to / 2 });
    expect(zoomed(whole, whole, whole.to, 0.001).to - zoomed(whole, whole, whole.to, 0.001).from).toBe(
      7 * 24 * 3600 * 1000,
    );
    expect(zoomed(whole, whole, 5, Number.POSITIVE_INFINITY)).toEqual(whole);
  });
});
