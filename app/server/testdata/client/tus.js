// A program of an integrator that sends a document with tus-js-client, the client of the
// protocol's authors:
//
//   node tus.js http://127.0.0.1:8080/v1 KEY Deed.pdf
//
// It stops after the first part, as a lost connection would, and resumes with another
// client object that knows the address of the upload alone.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import * as tus from "tus-js-client";

const [base, key, document] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const bytes = readFileSync(document);

function send(options) {
  return new Promise((done, failed) => {
    const upload = new tus.Upload(bytes, {
      headers,
      chunkSize: 1000,
      metadata: { filename: basename(document) },
      retryDelays: null,
      onError: failed,
      onSuccess: () => done(upload.url),
      onChunkComplete: async () => {
        if (!options.uploadUrl) {
          await upload.abort();
          done(upload.url);
        }
      },
      ...options,
    });
    upload.start();
  });
}

const url = await send({ endpoint: `${base}/uploads` });
const half = (await (await fetch(url, { headers })).json()).data;
if (half.offset < 1000 || half.offset >= half.length || half.file !== null) throw new Error(JSON.stringify(half));

await send({ uploadUrl: url });
const end = (await (await fetch(url, { headers })).json()).data;
if (end.error !== null || end.file === null || end.offset !== bytes.length) throw new Error(JSON.stringify(end));

const back = Buffer.from(await (await fetch(end.file.download_url, { headers })).arrayBuffer());
if (!bytes.equals(back)) throw new Error("other bytes came back");

const begun = await send({ endpoint: `${base}/uploads` });
await tus.Upload.terminate(begun, { headers });
const gone = await fetch(begun, { headers });
if (gone.status !== 404) throw new Error(`a cancelled upload: ${gone.status}`);

console.log(end.file.filename, end.file.page_count);
