// Package contract holds the server against its description: a fuzzer that reads
// app/api/openapi.yaml and makes of it requests that are right and requests that are
// wrong in one way or several, for every operation and with every kind of key, in an
// order and with values that a seed decides. It holds no code that is shipped.
//
// What must hold of every answer is in judge_test.go: no status from 500 on; status,
// headers, media type and body as they are described; nothing is done for a key that
// may not, nor by what is refused or only reads. At the end of a round what is there
// is what was answered, every document's bytes lie on the disk and no others, and a
// verification finds nothing.
//
//	go test ./app/contract                                    one round of a fixed seed
//	DEEDKEEP_FUZZ_CONTRACT=10m go test -v -timeout 0 ./app/contract   rounds of other seeds, so long
//	DEEDKEEP_FUZZ_SEED=7 go test -v ./app/contract            one round of that seed
package contract
