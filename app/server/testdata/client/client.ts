// A program of an integrator, with a client that was generated from openapi.json:
//
//   node client.js http://127.0.0.1:8080/v1 KEY Deed.pdf
//
// It files an abstract with a document, finds it in the list and by a search, reads it, and
// gets its bytes.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import createClient from "openapi-fetch";
import type { components, paths } from "./contract.js";

const [baseUrl, key, document] = process.argv.slice(2) as [string, string, string];
const vault = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

function must<T>(answer: { data?: T; error?: { message: string }; response: Response }, status: number): T {
  if (answer.data === undefined || answer.response.status !== status) {
    throw new Error(`${answer.response.status} ${answer.error?.message}`);
  }
  return answer.data;
}

const bytes = readFileSync(document);

const made = must(await vault.POST("/abstracts", {
  params: { header: { "Idempotency-Key": "generated-client-1" } },
  body: { county: "Essex", custom_fields: JSON.stringify({ file_number: "A-77" }), "files[]": [document] },
  bodySerializer: body => {
    const form = new FormData();
    for (const [name, value] of Object.entries(body ?? {})) {
      if (typeof value === "string") form.append(name, value);
    }
    form.append("files[]", new Blob([bytes]), basename(document));
    return form;
  },
}), 201);
const abstract: components["schemas"]["Abstract"] = made.data;
const file = abstract.files[0];
if (made.errors.length > 0 || file === undefined) throw new Error(JSON.stringify(made));

const page = must(await vault.GET("/abstracts", { params: { query: { county: "essex", per_page: 10 } } }), 200);
if (page.data.length !== 1 || page.data[0]?.id !== abstract.id || page.links.next !== null) throw new Error(JSON.stringify(page));

const read = must(await vault.GET("/abstracts/{id}", { params: { path: { id: abstract.id } } }), 200);
if (read.data.custom_fields["file_number"] !== "A-77" || read.data.files.length !== 1) throw new Error(JSON.stringify(read));

// The search follows within two seconds.
async function search(q: string): Promise<components["schemas"]["SearchHit"] | undefined> {
  for (let tries = 0; tries < 100; tries++) {
    await new Promise(done => setTimeout(done, 100));
    const answer = await vault.GET("/search", { params: { query: { q } } });
    if (answer.response.status === 503) continue;
    const found = must(answer, 200).data;
    if (found.length > 1) throw new Error(JSON.stringify(found));
    if (found[0] !== undefined) return found[0];
  }
  return undefined;
}
const called = await search("a-77");
if (called?.kind !== "abstract" || called.match !== "exact" || called.id !== abstract.id) throw new Error(JSON.stringify(called));
const named = await search(file.filename);
if (named?.kind !== "file") throw new Error(JSON.stringify(named));
const [number, filedWith]: [number, string | undefined] = [named.id, named.abstract?.id]; // the types follow the kind
if (number !== file.id || filedWith !== abstract.id) throw new Error(JSON.stringify(named));

const back = must(await vault.GET("/file-vault/files/{n}/download", { params: { path: { n: file.id } }, parseAs: "arrayBuffer" }), 200);
if (!bytes.equals(Buffer.from(back))) throw new Error("other bytes came back");

const none = await vault.GET("/abstracts/{id}", { params: { path: { id: "AAAAAAAA" } } });
if (none.response.status !== 404 || none.error?.message !== "Not found.") throw new Error(JSON.stringify(none));

console.log(`${abstract.id} ${file.filename} ${page.data.length}`);
