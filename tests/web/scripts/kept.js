async () => {
  const found = {};
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      const reply = await cache.match(request);
      found[request.url.replace(location.origin, '')] = await reply.text();
    }
  }
  return found;
}
