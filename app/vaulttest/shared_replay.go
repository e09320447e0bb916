package vaulttest

import (
	"encoding/json"
	"fmt"

	"deedkeep/app/vault"
)

func KeyHash(n byte) [32]byte { return [32]byte{n} }

// kept keeps an answer that says what it is the answer to.
func IdempotencyKey[T any](n byte) vault.Idempotency[T] {
	return vault.Idempotency[T]{KeyHash: KeyHash(n), RequestHash: fmt.Sprintf("request %d", n), Render: func(made T) (int, map[string]string, []byte, error) {
		body, err := json.Marshal(made)
		return 201, map[string]string{"Location": "/there"}, body, err
	}}
}
