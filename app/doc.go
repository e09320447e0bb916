// Package app is the map of the code: which packages there are, what each is for,
// and what may import what. It has no code of its own.
//
// An import goes to a strictly lower rank, or to a package's own subpackage; rank 0
// imports nothing of the module. layout_test.go reads the table and fails for an
// import that breaks it, for a package without a row, and for a row without a
// package. A library or package in the last column may be imported only by the
// packages that name it. Tests keep to the ranks too, but may import packages of
// their own rank and those of rank "test", which shipped code never imports.
//
//	rank  package        for                                                 alone may import
//	14    .              os.Exit with the exit code of cmd                        -
//	13    cmd            command line, one file per command                       github.com/spf13/cobra github.com/spf13/pflag
//	12    app/server     listeners, TLS, routing, graceful shutdown               -
//	12    app/doctor     diagnostics of an installation                           -
//	11    app/api        the /v1 API                                              github.com/gin-gonic/gin
//	11    app/ui         web pages, signed downloads                              -
//	11    app/ui/records pages of abstracts, orders, folders, and search          -
//	11    app/ui/documents pages of one document, uploads, downloads, trash       -
//	11    app/ui/admin   pages for administrators                                 -
//	11    app/ui/account sign-in, invitations, and the user's own account         github.com/boombuler/barcode
//	10    app/ui/page    what all pages share: layout, forms, sessions, errors    -
//	11    app/control    control socket: listener, client, handlers              -
//	11    app/metrics    Prometheus metrics                                       github.com/prometheus/client_golang github.com/prometheus/common
//	9     app/httpx      HTTP: request IDs, slow clients, memory budget, errors  -
//	8     app/vault      operations on records and background work                github.com/gofrs/flock deedkeep/app/store
//	7     app/client     typed client of /v1 and of the control socket            -
//	5     app/search     search index kept in step with the database              deedkeep/app/store
//	3     app/sandbox    worker processes that open documents, and their pool     github.com/landlock-lsm/go-landlock
//	2     app/store      buckets, indexes, migrations, group commit               go.etcd.io/bbolt
//	2     app/encode     domain types to JSON shapes of the API                  -
//	2     app/search/query query language, terms of documents, snippets           -
//	2     app/document   type detection, limits, text and page images             github.com/gabriel-vasile/mimetype golang.org/x/image
//	1     app/document/ole OLE compound files                                     github.com/richardlehane/mscfb
//	1     app/document/ooxml Office Open XML packages                             -
//	1     app/document/tiff structure of TIFF files                               -
//	0     app/document/docio reader of one untrusted document                     -
//	2     app/document/phrase phrase and word matching in document text           -
//	1     app/model      domain types and their validation                        -
//	1     app/blobstore  document files by SHA-256, partial uploads, previews    -
//	1     app/pdf        PDFium as WebAssembly                                    github.com/tetratelabs/wazero
//	1     app/backup/archive backup format: write, read, verify, prune            filippo.io/age github.com/gofrs/flock
//	1     app/search/index inverted index                                         -
//	1     app/secret     keys, passwords, codes, links, opaque IDs                github.com/ccojocar/zxcvbn-go github.com/pquerna/otp golang.org/x/crypto/argon2
//	1     app/certificate TLS certificates: loaded or self-signed                 -
//	0     app/errs       error kinds and field errors                             -
//	0     app/durable    sync of a directory, atomic rename, full disks           -
//	0     app/apitypes   JSON shapes of /v1                                       -
//	0     app/decode     request decoding: JSON, forms, multipart                 -
//	0     app/stats      counters and histograms                                  -
//	0     app/tus        headers of resumable uploads                             -
//	0     app/search/index/segment segment files of the index: write, read, merge -
//	0     app/importer   scan of a folder of existing documents                   -
//	0     app/config     settings: defaults, loading, validation                  github.com/spf13/viper
//	0     web            embedded pages, scripts, styles, and engines             -
//	0     web/copy       program of go generate: copies what npm installed        -
//	test  app            this map and the tests of the repository's layout        -
//	test  app/contract   fuzzer: the server against its OpenAPI description       -
//	test  app/powercut   the server through power failures                        -
//	test  app/vaulttest  fixtures shared by the tests of several packages         -
//	test  app/vaulttest/description openapi.yaml for tests that check responses   -
//	test  app/vaulttest/blockdev block devices that fail or record a power cut    github.com/hanwen/go-fuse/v2
//
// A domain type has one file name in every package: "ls app/*/abstract.go" lists
// everything about abstracts. There is no package util, common, helpers, or manager.
package app
