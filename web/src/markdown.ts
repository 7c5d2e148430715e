/** Model text as inert HTML: no raw HTML, no pictures, links only to hosts that the operator named. */

import DOMPurify from "dompurify";
import { Marked } from "marked";

const marked = new Marked({
  gfm: true,
  breaks: true,
  // What looks like HTML is shown as it was written.
  renderer: { html: ({ text }) => escaped(text), image: ({ text }) => escaped(text) },
});

const TAGS = [
  "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
  "ol", "p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
];

const allowedHosts = new Set<string>();

export function allowLinksTo(hosts: string[]): void {
  for (const host of hosts) allowedHosts.add(host.toLowerCase());
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  if (isAllowed(node.getAttribute("href"))) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  } else {
    node.removeAttribute("href");
  }
});

/** A value of the browser's TrustedHTML, where it has that; to Preact it passes for a string. */
export function toHtml(text: string): string {
  const html = marked.parse(text, { async: false });
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "start"],
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
