import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";

const [base, key, weak, file, out] = process.argv.slice(2);
const as = (k) => ({ headers: { Authorization: `Bearer ${k}` } });

const form = new FormData();
form.append("county", "Wexcombe");
form.append("files[]", new Blob([await readFile(file)]), basename(file));
const made = await fetch(`${base}/abstracts`, { method: "POST", body: form, ...as(key) });
if (made.status !== 201) throw new Error(await made.text());
const url = (await made.json()).data.files[0].download_url;

const got = await fetch(url, as(key));
if (got.status !== 200) throw new Error(await got.text());
await writeFile(out, Buffer.from(await got.arrayBuffer()));

const none = await fetch(url);
const refused = await fetch(url, as(weak));
console.log(none.status, refused.status);
