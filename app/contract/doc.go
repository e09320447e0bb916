// Package contract tests the server against its API description. A fuzzer reads app/api/openapi.yaml and generates
// valid requests and requests with one or more errors, for every operation and every type of key. A seed determines
// their sequence and values. The package contains only tests.
//
// check_test.go checks every response: no 5xx status; status, headers, media type, and body match the description; a
// key without permission, a rejected request, and a read change nothing. At the end of a round, the records are those
// of the responses, the blobs on disk are exactly the content of the documents, and a verification has no findings.
//
//	go test ./app/contract                                    one round with a fixed seed
//	DEEDKEEP_FUZZ_CONTRACT=10m go test -v -timeout 0 ./app/contract   rounds with other seeds for 10 minutes
//	DEEDKEEP_FUZZ_SEED=7 go test -v ./app/contract            one round with this seed
package contract
