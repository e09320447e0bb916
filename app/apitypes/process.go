package apitypes

// ProcessFailure is a file whose processing failed, and why; it is stored and can
// be downloaded all the same.
type ProcessFailure struct {
	ID       int64  `json:"id"`
	Filename string `json:"filename"`
	Reason   string `json:"reason"`
}

// ProcessFailures answers GET /control/process, the first thousand.
type ProcessFailures struct {
	Data List[ProcessFailure] `json:"data"`
}

// ProcessRetry asks POST /control/process/retry for one file; 0 asks for all.
type ProcessRetry struct {
	File int64 `json:"file"`
}

// ProcessRetried says how many files were put into the queue again.
type ProcessRetried struct {
	Retried int `json:"retried"`
}
