package apitypes

// Certificate is the one that the public address speaks with: Fingerprint is its
// SHA-256 as browsers show it, SelfSigned that it was made here.
type Certificate struct {
	Names       List[string] `json:"names"`
	NotBefore   Time         `json:"not_before"`
	NotAfter    Time         `json:"not_after"`
	Fingerprint string       `json:"fingerprint"`
	SelfSigned  bool         `json:"self_signed"`
}
