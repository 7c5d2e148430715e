/** Model text as inert HTML: no raw HTML, no pictures, links only to hosts that the operator named. */

import DOMPurify from "dompurify";
import { Marked, type Tokens } from "marked";

import { strings } from "./strings";

const REF = "[A-Z][A-Za-z]{2,40}/[A-Za-z0-9](?:[A-Za-z0-9.-]{0,62}[A-Za-z0-9])?";
const CITED = new RegExp(`^\\[(${REF}(?:[,;] ?${REF})*)\\](?!\\()|^(${REF})`);
const BEGINS = new RegExp(`\\[?${REF}`);
const PRODUCT = /\d+(?:[.,]\d+)?(?:\*\d+(?:[.,]\d+)?)+/;
const SOURCE_LINK = /^#source-(\d+)$/;

/** Source ids of the text at hand, in the order of its citations. */
let cited: readonly string[] = [];

const marked = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    // A single one means "about": "~60%, target 2~3" loses nothing and is struck out nowhere.
    del: (text) => (text.startsWith("~~") ? false : undefined),
  },
  // What looks like HTML is shown as it was written.
  renderer: { html: ({ text }) => escaped(text), image: ({ text }) => escaped(text) },
  extensions: [
    {
      // "5*3*2" is arithmetic and no emphasis.
      name: "product",
      level: "inline",
      start: (text) => PRODUCT.exec(text)?.index,
      tokenizer(text) {
        const found = PRODUCT.exec(text);
        return found?.index === 0 ? { type: "product", raw: found[0], text: found[0] } : undefined;
      },
      renderer: (token: Tokens.Generic) => escaped(token.text as string),
    },
    {
      name: "source",
      level: "inline",
      start: (text) => (cited.length > 0 ? BEGINS.exec(text)?.index : undefined),
      tokenizer(text) {
        const found = cited.length > 0 ? CITED.exec(text) : null;
        const refs = (found?.[1] ?? found?.[2] ?? "").split(/[,;] ?/);
        if (!found || refs.some((ref) => !cited.includes(ref))) return undefined;
        return { type: "source", raw: found[0], refs };
      },
      renderer: (token: Tokens.Generic) => (token.refs as string[]).map(link).join(""),
    },
  ],
});

const link = (ref: string): string => {
  const number = cited.indexOf(ref) + 1;
  return `<a href="#source-${number}">${number}</a>`;
};

const TAGS = [
  "a",
  "blockquote",
  "br",
  "code",
  "del",
  "em",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "li",
  "ol",
  "p",
  "pre",
  "strong",
  "table",
  "tbody",
  "td",
  "th",
  "thead",
  "tr",
  "ul",
];

const WRITTEN = /^(?:P|LI|TD|TH|BLOCKQUOTE|H[1-6])$/;

const allowedHosts = new Set<string>();

export function allowLinksTo(hosts: string[]): void {
  for (const host of hosts) allowedHosts.add(host.toLowerCase());
}

/** The place among the citations that a link stands for, from 1; null for any other link. */
export function sourceNumber(href: string | null): number | null {
  const found = SOURCE_LINK.exec(href ?? "");
  return found ? Number(found[1]) : null;
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") guard(node);
  if (WRITTEN.test(node.tagName)) node.setAttribute("dir", "auto");
  // Models begin their titles anywhere; the page's own come first.
  if (/^H[1-6]$/.test(node.tagName)) node.setAttribute("aria-level", "3");
});

function guard(node: Element): void {
  const href = node.getAttribute("href");
  const number = sourceNumber(href);
  if (number !== null && number >= 1 && number <= cited.length) {
    node.setAttribute("class", "cite");
    node.setAttribute("aria-label", strings.sources.number(number));
  } else if (isAllowed(href)) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  } else {
    node.removeAttribute("href");
  }
}

/** A value of the browser's TrustedHTML, where it has that; to Preact it passes for a string. */
export function toHtml(text: string, refs: readonly string[]): string {
  cited = refs;
  const html = marked.parse(text, { async: false });
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["align", "href", "start"],
    ALLOW_DATA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  }) as unknown as string;
}

function isAllowed(href: string | null): boolean {
  if (href === null || !URL.canParse(href)) return false;
  const url = new URL(href);
  return url.protocol === "https:" && allowedHosts.has(url.host.toLowerCase());
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
