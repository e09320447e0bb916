// Package app is the house itself; it holds no code of its own, only the plan of
// its floors and the test that keeps it.
//
// The plan in three words: nouns, verbs, voices. title holds the nouns, vault the
// verbs; api, ui and cmd are voices: they speak for somebody and decide nothing.
// An import goes down, never up, never sideways on one floor. Floor 0 imports
// nothing of ours.
//
// The table is the rule: floors_test.go reads it here and holds every package
// against it. A package without a row fails, and so does a row without a package.
// What stands in the last column may be imported by that package alone, or by
// those that name it; the rest is free to all who stand above it, and what go.mod
// brings in to all.
//
//	floor  package        what it is for                                          alone may import
//	8      .              os.Exit with what cmd returns                           -
//	7      cmd            one file per command: flags, output, exit codes         github.com/spf13/cobra github.com/spf13/pflag
//	6      app/server     listeners, mounting, start and stop                     -
//	5      app/api        voice for programs: /v1, the one failure table          github.com/gin-gonic/gin
//	5      app/ui         voice for people: pages, signed downloads               -
//	5      app/metrics    voice for monitors: how it goes, in numbers             github.com/prometheus/client_golang github.com/prometheus/common
//	4      app/vault      the verbs; their transactions begin and end here         github.com/gofrs/flock deedkeep/app/store
//	4      app/doctor     what is well with an installation, and what is not      -
//	3      app/indexer    the index of words, kept behind the database            deedkeep/app/store
//	2      app/store      buckets, indexes, migrations, group commit              go.etcd.io/bbolt
//	2      app/client     typed client of /v1 and of the control door             -
//	2      app/reader     the child process that opens documents, and its pool    github.com/landlock-lsm/go-landlock
//	2      app/search     what somebody types, and the documents it finds       -
//	1      app/postings   the inverted index: its segments, and what is asked      -
//	1      app/inspect    what a file is, by content; the limits, their wording   github.com/gabriel-vasile/mimetype github.com/richardlehane/mscfb
//	1      app/extract    text and page pictures of a document                    golang.org/x/image github.com/richardlehane/mscfb
//	0      app/title      the nouns, the rules of one noun, the error kinds       -
//	0      app/wire       JSON shapes of /v1 to the letter                        -
//	0      app/body       reading of request bodies: JSON, forms, multipart       -
//	0      app/tally      counts of what happens, for whoever asks                -
//	0      app/tus        the headers of resumable uploads                         -
//	0      app/pace       bodies at the pace of honest clients, and no slower     -
//	0      app/blob       files named by their SHA-256, written once              -
//	0      app/derived    pictures and text that can be made again                -
//	0      app/archive    the backup format: write, read, verify, thin out        filippo.io/age github.com/gofrs/flock
//	0      app/segment    one segment of the index on disk: written, read, merged -
//	0      app/pdf        PDFium as WebAssembly                                   github.com/tetratelabs/wazero
//	0      app/secret     keys, passwords, codes, links, the permutation of ids   github.com/ccojocar/zxcvbn-go github.com/pquerna/otp golang.org/x/crypto/argon2
//	0      app/local      the control door's listeners, each with its dial        -
//	0      app/certificate the certificate of the public address: own or made    -
//	0      app/tree       the walk of a folder of existing documents             -
//	0      app/config     the settings: defaults, load, validate                  github.com/spf13/viper
//	0      web            embedded pages and engines                              -
//	0      web/copy       program of go generate: copies what npm brought         -
//	test   app            this plan and the tests that keep it                    -
//	test   app/contract   the server against its description: a fuzzer             -
//	test   app/powercut   the server through power failures                       -
//	test   app/vaulttest  what several packages' tests stand on                   -
//	test   app/vaulttest/description openapi.yaml for tests that check responses -
//	test   app/vaulttest/blockdev disks that fail, and that record a power cut    github.com/hanwen/go-fuse/v2
//
// Nouns become wire shapes in api: wire imports nothing. Tests keep the floors too
// (a test may besides import its neighbours on its own floor, and vaulttest); code
// that is shipped never imports vaulttest. Tests may import any library.
//
// A noun has one file name on every floor: "ls app/*/abstract.go" shows all there
// is about abstracts. Besides, a package has one file of its own name (open, close,
// package comment) and a few for its craft (api/failure.go, vault/intake.go). A
// package is a short noun; there is no util, common, helpers, models or manager.
package app
