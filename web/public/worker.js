/**
 * Keeps the page itself, so that it opens without a connection: its HTML and the files that this names.
 * Answers of the API pass it by; nothing of a patient is ever kept.
 */

const SHELL = "rounds-shell";
const PAGE = "/";

// A new worker takes the place of the old one at once; what it kept stays good, names hold hashes.
addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(fetch(PAGE).then(keep));
});

addEventListener("activate", (event) => {
  event.waitUntil(clients.claim());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (pathname.startsWith("/assets/")) event.respondWith(asset(request, pathname));
  // A frame is not a document here: what a record system frames is as without a worker.
  else if (pathname === PAGE && request.destination === "document") event.respondWith(page(event));
});

/** The network's page, so that a new version is seen at once; without a network the kept one. */
async function page(event) {
  const fetched = await fetch(event.request).catch(() => null);
  if (fetched !== null && fetched.status < 500) {
    event.waitUntil(keep(fetched.clone()));
    return fetched;
  }
  return (await kept(PAGE)) ?? fetched ?? Response.error();
}

async function asset(request, pathname) {
  return (await kept(pathname)) ?? fetch(request);
}

const kept = async (path) => (await caches.open(SHELL)).match(path, { ignoreVary: true });

/** Keeps a version whole or not at all, and nothing of the one before. */
async function keep(reply) {
  if (!reply.ok || reply.redirected) return;
  const html = await reply.clone().text();
  const before = await kept(PAGE);
  if (before !== undefined && (await before.text()) === html) return;
  const files = new Set(html.match(/\/assets\/[\w.-]+/g));
  const shell = await caches.open(SHELL);
  await shell.addAll([...files]);
  await shell.put(PAGE, reply);
  for (const { url } of await shell.keys()) {
    const { pathname } = new URL(url);
    if (pathname !== PAGE && !files.has(pathname)) await shell.delete(url, { ignoreVary: true });
  }
}
