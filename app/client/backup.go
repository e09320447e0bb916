package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"deedkeep/app/wire"
)

// CreateBackup has a snapshot made, as asked. It calls progress, which may be nil, for each report, in this
// goroutine; the end of the context is that of the backup, and nothing of it is visible. What
// stands against it is an *Error; an answer that was cut, io.ErrUnexpectedEOF. Door
// only.
func (c *Client) CreateBackup(ctx context.Context, asked wire.BackupCreate, progress func(wire.Progress)) (wire.Backup, error) {
	body, err := wire.Marshal(asked)
	if err != nil {
		return wire.Backup{}, err
	}
	answer, err := c.send(ctx, http.MethodPost, "/control/backup", bytes.NewReader(body), "application/json")
	if err != nil {
		return wire.Backup{}, err
	}
	defer answer.Body.Close() //nolint:errcheck // only read from
	lines := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer))
	for {
		var line wire.BackupLine
		if err := lines.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return wire.Backup{}, fmt.Errorf("backup: read answer: %w", err)
		}
		switch {
		case line.Error != "":
			return wire.Backup{}, &Error{Status: line.Status, Message: line.Error, RequestID: answer.Header.Get("X-Request-Id")}
		case line.Result != nil:
			return *line.Result, nil
		case line.Progress != nil && progress != nil:
			progress(*line.Progress)
		}
	}
}
