// Package app documents the architecture: it lists all packages, their purpose, and which
// packages each may import. It contains no code.
//
// A package may import only packages of a lower rank and its own subpackages. A package
// of rank 0 imports no other package of this module. layout_test.go checks the table: it fails
// if an import violates the table, if a package has no row, or if a row has no package. A
// package in the last column may be imported only by the packages that list it there. Tests
// may import any package. Shipped code never imports packages of rank "test".
//
//	rank  package        for                                                 alone may import
//	17    .              os.Exit with the exit code of cmd                        -
//	16    cmd            command line, one file per command                       aead.dev/minisign github.com/spf13/cobra github.com/spf13/pflag
//	15    app/server     composition: listeners, TLS, routing, shutdown           -
//	14    app/doctor     diagnostics of an installation                           -
//	14    app/ui         web pages: routes of all pages                           -
//	14    app/ui/account sign-in, invitations, and the user's own account         github.com/boombuler/barcode
//	14    app/ui/admin   pages for administrators                                 -
//	14    app/ui/documents pages of one document, uploads, downloads, trash       -
//	14    app/ui/help    guides as pages, and search in them                      -
//	14    app/ui/instruments  runsheets, and pages of instruments                 -
//	14    app/ui/live    changes by others, and who has a page open               -
//	14    app/ui/records pages of abstracts, orders, folders, and search          -
//	14    app/ui/records/titlework order and people, names run, requirements, certificates, notes -
//	14    app/ui/suggestions suggested instruments: runsheet files, names of documents -
//	13    app/api        the /v1 API                                              github.com/gin-gonic/gin
//	13    app/control    control socket: listener, client, handlers               -
//	13    app/metrics    Prometheus metrics                                       github.com/prometheus/client_golang github.com/prometheus/common
//	13    app/ui/absence until when a user is away                                 -
//	13    app/ui/instrumentform form of an instrument: fields, changes, problems  -
//	13    app/ui/tablerow rows of pasted cells and of runsheet files, with corrections -
//	12    app/demo       example firm: invented records, scans, and users        golang.org/x/image
//	12    app/ui/page    what all pages share: layout, forms, sessions, errors    -
//	11    app/httpx      HTTP: request IDs, slow clients, memory budget, errors   -
//	11    app/instance   an open data directory and the services in it            github.com/gofrs/flock deedkeep/app/store
//	10    app/backup     backups: create, list, schedule, prune                   deedkeep/app/store
//	9     app/integrity  verify, repair, scrub, checks of the data directory      deedkeep/app/store
//	8     app/lists      lists as tables: columns, rows as files, saved views     deedkeep/app/store
//	8     app/jobs       processing of documents, previews, missing texts         deedkeep/app/store
//	7     app/search     search service, and indexing of what changes             deedkeep/app/store
//	7     app/upload     resumable uploads                                        deedkeep/app/store
//	7     app/vault/bulk changes of many records at once                         deedkeep/app/store
//	7     app/vault/phrases standard language for requirements and exceptions     deedkeep/app/store
//	7     app/vault/purge permanent deletion of what is in the trash              deedkeep/app/store
//	6     app/vault      orders, abstracts, documents, folders, templates, trash  deedkeep/app/store
//	5     app/auth       users, sessions, API keys, sign-in throttling            deedkeep/app/store
//	4     app/audit      audit log: buffered entries, reading, export             deedkeep/app/store
//	4     app/settings   settings that administrators store on pages              deedkeep/app/store
//	4     app/vault/storage blobs of a vault: damaged and orphaned ones, disk errors   deedkeep/app/store
//	3     app/backup/archive backup format: write, read, verify, prune            filippo.io/age github.com/gofrs/flock
//	3     app/pagetext   text of pages: their own or from OCR                     -
//	3     app/sandbox    worker processes that open documents, and their pool     github.com/landlock-lsm/go-landlock
//	3     app/txn        one transaction: actor check, audit entry, free space    deedkeep/app/store
//	2     app/blobstore  documents by SHA-256, partial uploads, previews          -
//	2     app/document   type detection, limits, text and page images             github.com/gabriel-vasile/mimetype golang.org/x/image
//	2     app/document/office Office documents: recognition and text                -
//	2     app/document/pdfwriter PDF documents of scanned pages with invisible text -
//	2     app/document/tiff TIFF files: directories and pixels                    golang.org/x/image
//	2     app/encode     domain types to JSON shapes of the API                   -
//	2     app/extract    fields read in the text of recorded instruments         -
//	2     app/filename   fields read in the names of documents                   -
//	2     app/runsheet   runsheets as CSV and Excel files                         github.com/xuri/excelize/v2
//	2     app/search/query query language, terms of documents, snippets, find     -
//	2     app/service    service: install, control, readiness github.com/kardianos/service github.com/coreos/go-systemd/v22/daemon
//	2     app/store      buckets, indexes, migrations, group commit               -
//	2     app/titlecheck what to look at before a search is certified            -
//	1     app/blob/disk  blobs as files, and changes of files that tests replace  -
//	1     app/certificate TLS certificates: loaded, self-signed, or issued with ACME github.com/caddyserver/certmagic
//	1     app/client     HTTP client: JSON, JSON lines, error responses           -
//	1     app/config     settings: defaults, loading, validation                  github.com/spf13/viper
//	1     app/document/office/ole OLE compound files                              github.com/richardlehane/mscfb
//	1     app/document/office/ooxml Office Open XML packages                      -
//	1     app/document/raster images as rows: scaling, orientation, limits        golang.org/x/image
//	1     app/kv/boltkv  database of app/kv in one file, with bbolt                  go.etcd.io/bbolt
//	1     app/kv/boltkv/pagecache page cache and disk of vault.db: comparison, clean mark go.etcd.io/bbolt
//	1     app/model      domain types and their validation                        -
//	1     app/ocr        words on page images, read by Tesseract as WebAssembly   github.com/tetratelabs/wazero
//	1     app/pdf        PDFium as WebAssembly                                    github.com/tetratelabs/wazero
//	1     app/search/index inverted index                                         -
//	1     app/spreadsheet tables as CSV and Excel files, written row by row       github.com/xuri/excelize/v2
//	1     app/secret     keys, passwords, codes, links, opaque IDs                github.com/ccojocar/zxcvbn-go github.com/pquerna/otp golang.org/x/crypto/argon2
//	0     app/apitypes   JSON shapes of /v1                                       -
//	0     app/blob       what app/blobstore needs of the place that keeps blobs  -
//	0     app/decode     request decoding: JSON, forms, multipart                 -
//	0     app/document/docio reader of one untrusted document                     -
//	0     app/durable    sync of a directory, atomic rename, full disks           -
//	0     app/errs       error kinds and field errors                             -
//	0     app/fairqueue  queue that owners share fairly, and turns                -
//	0     app/guides     guides: text, HTML, search                               github.com/yuin/goldmark
//	0     app/importer   scan of a folder of existing documents                   -
//	0     app/kv         what app/store needs of a database: buckets of ordered keys -
//	0     app/memory     memory of processes                                      -
//	0     app/model/area rectangles on pages of documents                         -
//	0     app/model/origin pages of other documents that a document was created from    -
//	0     app/mention    numbers, addresses, and names that a document mentions   -
//	0     app/search/index/segment segment files of the index: write, read, merge -
//	0     app/stats      counters, histograms, and rate limiters                  -
//	0     app/strictyaml YAML files written by hand: nodes and lines of problems  -
//	0     app/tus        headers of resumable uploads                             -
//	0     app/wasm       engines that are compiled to WebAssembly                 github.com/tetratelabs/wazero
//	0     web            embedded pages, scripts, styles, and engines             -
//	0     web/copy       program of go generate: copies what npm installed        -
//	test  app            this map and the tests of the repository's layout        -
//	test  app/contract   fuzzer: the server against its OpenAPI description       -
//	test  app/powercut   the server through power failures                        -
//	test  app/blob/blobtest tests that every engine of app/blob passes             -
//	test  app/kv/kvtest  tests that every database of app/kv passes               -
//	test  app/vaulttest  fixtures shared by the tests of several packages         golang.org/x/image
//	test  app/vaulttest/tifffile TIFF files with any tags                         -
//	test  app/vaulttest/client calls of /v1 with Go types              -
//	test  app/vaulttest/description openapi.yaml for tests that check responses   -
//	test  app/vaulttest/blockdev block devices that fail or record a power cut    github.com/hanwen/go-fuse/v2
//
// A transport (api, ui, control, metrics, cmd) decodes a request, calls one service method,
// and encodes the result. It contains no business logic. Code for a domain type has the same
// file name in every package: "find app -name abstract.go" lists them. There
// are no packages called util, common, helpers, or manager.
//
// # POST /v1/abstracts
//
// httpx assigns a request ID, limits the request's memory, and protects against slow
// clients. api authenticates the API key and decodes the body as a stream. For each file,
// vault writes the bytes to a temporary file on the same disk as the blobs and hashes them.
// At the same time, a sandbox worker inspects the file. Then Abstracts.Create validates
// the request and commits the files (fsync, rename to the SHA-256, fsync of the directory).
// Finally it writes the abstract, its documents, index entries, audit entries, processing
// tasks, and the stored response in one transaction (txn, store). A crash can leave
// unreferenced files, which the sweeper removes, but never a record without its content.
//
// # GET /v1/search
//
// api decodes the query and calls search. search waits for a free slot, uses search/query
// to convert the text to a query of search/index, and gets the IDs of the matching records.
// Then it reads these records in one database transaction, so that the results never contain
// outdated or deleted records. Snippets are taken from the stored document texts in blobstore.
//
// # Upload in a browser
//
// ui/documents implements the tus protocol. upload appends each chunk to a partial file and
// confirms the offset after fsync. After the last byte, the partial file is staged in vault,
// which stores the document as described above. The result is stored, too, so that a browser
// that lost the response can request it.
//
// # Where to start
//
// Common changes start in these files. .github/CONTRIBUTING.md describes the steps of most of them.
//
//   - A list filter: the listSpec of the record type, such as orderListSpec in `app/api/order.go`.
//   - An accepted document type: `app/document/type.go`.
//   - A setting, such as the session lifetime: `app/config/config.go` and the package that uses
//     the setting, such as `app/auth/session.go`.
//   - A backup target: `app/backup/backup.go` opens the archive, `app/backup/archive` writes it.
//   - An audit event: the service that writes it, such as `app/vault/order.go`, and its text in
//     `app/ui/page/event_text.go`.
package app
