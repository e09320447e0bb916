package apitypes

// Forwarded is one address that sent forwarding headers which the server could not use
// since it started, and with how many requests: Untrusted ones because the address is no
// trusted proxy, Unreadable ones because no address of a client could be read. Example is
// the beginning of the last unreadable one.
type Forwarded struct {
	Peer       string `json:"peer"`
	Untrusted  int64  `json:"untrusted"`
	Unreadable int64  `json:"unreadable"`
	Example    string `json:"example"`
	LastAt     Time   `json:"last_at"`
}
