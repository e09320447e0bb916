package apitypes

// Headers of responses that add to what the bodies say.
const (
	// IgnoredFields names what a request sent and the server did not read.
	IgnoredFields = "X-Ignored-Fields"
	// ErrorCode carries the stable code of a failure.
	ErrorCode = "X-Error-Code"
)
