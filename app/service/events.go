package service

import (
	"io"
	"regexp"
	"strings"
	"sync"
)

// eventLog is what eventWriter needs of the Event Log.
type eventLog interface {
	Error(...any) error
	Warning(...any) error
	Info(...any) error
}

// eventWriter writes the messages of the server to the Event Log of Windows: those for people, and log
// records from level warn up. Each write is one message.
type eventWriter struct {
	log eventLog

	mu   sync.Mutex
	last string // last message that isn't a log record
}

var _ io.Writer = (*eventWriter)(nil)

// recordPattern matches the beginning of a log record as text and as JSON.
var recordPattern = regexp.MustCompile(`^(?:time=\S+ level=|\{"time":"[^"]*","level":")([A-Z]+)`)

func (w *eventWriter) Write(p []byte) (int, error) {
	text := strings.TrimSpace(string(p))
	level := "INFO"
	if record := recordPattern.FindStringSubmatch(text); record != nil {
		if level = record[1]; level == "INFO" || level == "DEBUG" {
			return len(p), nil
		}
	} else {
		w.mu.Lock()
		w.last = text
		w.mu.Unlock()
	}
	var err error
	switch {
	case level == "ERROR":
		err = w.log.Error(text)
	case level == "WARN", strings.HasPrefix(text, "deedkeep: WARNING:"):
		err = w.log.Warning(text)
	default:
		err = w.log.Info(text)
	}
	return len(p), err
}

// failed writes the last message as the reason why the server ended.
func (w *eventWriter) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Error("The server stopped because of an error. " + w.last)
}
