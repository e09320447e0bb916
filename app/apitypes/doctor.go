package apitypes

// Checkup answers GET /control/doctor: what only the vault knows of its health.
// Clean is false when the session before did not end cleanly; then Unchecked says why
// memory and disk could not be compared, and DiskError what failed, "" where nothing did.
// MonthBytes came in during the last thirty days. CutAt is since when
// it is known that a server did not stop by itself; nil: never.
type Checkup struct {
	Status        Status `json:"status"`
	NewestEventAt *Time  `json:"newest_event_at"`
	MonthBytes    int64  `json:"month_bytes"`
	CutAt         *Time  `json:"cut_at"`
	Clean         bool   `json:"clean"`
	Unchecked     string `json:"unchecked"`
	DiskError     string `json:"disk_error"`

	Forwarded List[Forwarded] `json:"forwarded"` // the address with the most requests first; empty while no server runs
}

// Doctor is what `doctor --json` prints (COMMANDS.md). OK is false when a finding
// is bad.
type Doctor struct {
	OK       bool            `json:"ok"`
	Findings List[Diagnosis] `json:"findings"`
}

// Diagnosis is one finding of the doctor: State is "ok", "warn" or "bad", Says what
// is so and what it means, Do what to do about it ("" when all is well).
type Diagnosis struct {
	Check string `json:"check"`
	State string `json:"state"`
	Says  string `json:"says"`
	Do    string `json:"do"`
}

// ProbeOpened answers POST /control/probe: a path of the public address that takes
// one body, keeps nothing of it, and answers a Probe. Door only, while serving.
type ProbeOpened struct {
	Path string `json:"path"`
}

// Probe is how the body of a probe arrived: its bytes, the milliseconds from the
// first to the last of them, and what stood in its head. Peer is the address at the
// other end of the connection, Trusted whether its word is believed.
type Probe struct {
	Bytes         int64  `json:"bytes"`
	SpanMillis    int64  `json:"span_millis"`
	Peer          string `json:"peer"`
	Trusted       bool   `json:"trusted"`
	Host          string `json:"host"`
	TLS           bool   `json:"tls"`
	ForwardedFor  string `json:"forwarded_for"`
	ForwardedHost string `json:"forwarded_host"`
	Proto         string `json:"forwarded_proto"`
	Authorization bool   `json:"authorization"` // one was there; it is not looked at
	Link          string `json:"link"`          // what links in the response to such a request begin with
}
