import sys

import requests

base, key, weak, file, out = sys.argv[1:]
session = requests.Session()
session.headers["Authorization"] = "Bearer " + key
with open(file, "rb") as document:
    made = session.post(base + "/abstracts", data={"county": "Wexcombe"}, files=[("files[]", document)])
assert made.status_code == 201, made.text
url = made.json()["data"]["files"][0]["download_url"]
got = session.get(url)
assert got.status_code == 200, got.text
with open(out, "wb") as copy:
    copy.write(got.content)
none = requests.get(url)
refused = requests.get(url, headers={"Authorization": "Bearer " + weak})
print(none.status_code, refused.status_code)
