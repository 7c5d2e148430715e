/** How the page looks, as its user chose: kept in this browser, and nothing of a patient with it. */

export const THEMES = ["system", "light", "dark", "contrast"] as const;
/** In percent of what the page is drawn for. */
export const TEXT_SIZES = ["90", "100", "115", "130", "150"] as const;
export type Theme = (typeof THEMES)[number];
export type TextSize = (typeof TEXT_SIZES)[number];

const THEME = "rounds.theme";
const TEXT_SIZE = "rounds.text-size";
const SINGLE_KEYS = "rounds.single-keys";
const NOTICES = "rounds.notices";
const WANTS_CONTRAST = matchMedia("(prefers-contrast: more)");

/** What another version or program has left there is no choice. */
function kept<T extends string>(key: string, known: readonly T[], otherwise: T): T {
  try {
    const found = localStorage.getItem(key);
    return known.find((one) => one === found) ?? otherwise;
  } catch {
    return otherwise; // a browser that forbids pages in frames to keep anything
  }
}

/** What is as without a choice is not kept. */
function keep(key: string, value: string, otherwise: string): void {
  try {
    if (value === otherwise) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // It holds until the page is closed.
  }
}

let theme = kept(THEME, THEMES, "system");
let textSize = kept(TEXT_SIZE, TEXT_SIZES, "100");
let singleKeys = kept(SINGLE_KEYS, ["on", "off"], "on");
let notices = kept(NOTICES, ["on", "off"], "off");

export const chosenTheme = (): Theme => theme;
export const chosenTextSize = (): TextSize => textSize;
/** Whether a letter alone is a shortcut: who dictates to the computer may not want that. */
export const hasSingleKeys = (): boolean => singleKeys === "on";

/** Whether the end of a plan is told while the page is out of view. */
export const hasNotices = (): boolean => notices === "on";

export function chooseTheme(chosen: Theme): void {
  theme = chosen;
  keep(THEME, chosen, "system");
  apply();
}

export function chooseTextSize(chosen: TextSize): void {
  textSize = chosen;
  keep(TEXT_SIZE, chosen, "100");
  apply();
}

export function chooseSingleKeys(isOn: boolean): void {
  singleKeys = isOn ? "on" : "off";
  keep(SINGLE_KEYS, singleKeys, "on");
}

export function chooseNotices(isOn: boolean): void {
  notices = isOn ? "on" : "off";
  keep(NOTICES, notices, "off");
}

function apply(): void {
  const page = document.documentElement;
  page.dataset.theme = theme;
  page.dataset.text = textSize;
  page.toggleAttribute("data-contrast", theme === "contrast" || WANTS_CONTRAST.matches);
}

/** Applies the choice before anything is drawn, and what the system or another tab changes later. */
export function dress(): void {
  apply();
  WANTS_CONTRAST.addEventListener("change", apply);
  addEventListener("storage", () => {
    theme = kept(THEME, THEMES, "system");
    textSize = kept(TEXT_SIZE, TEXT_SIZES, "100");
    singleKeys = kept(SINGLE_KEYS, ["on", "off"], "on");
    notices = kept(NOTICES, ["on", "off"], "off");
    apply();
  });
}
