package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"deedkeep/app/runsheet"
)

const (
	maxRowsFrame     = 1 << 20   // bytes of one frame with rows
	rowsFrameTarget  = 256 << 10 // the worker ends a frame at this size
	maxRunsheetBytes = 64 << 20  // bytes of all rows of a file
)

// Runsheet reads the rows of a CSV file or an Excel workbook (.xlsx). Its class is Upload. It returns
// the errors of package runsheet, document.ErrDamaged, ErrDeadline, ErrMemory (see IsDocumentError),
// and the errors of Inspect.
func (p *Pool) Runsheet(ctx context.Context, doc io.ReaderAt, size int64, lim runsheet.Limits) (runsheet.Table, error) {
	owner, _ := ctx.Value(ownerKey{}).(string)
	a := &rowsResult{lim: lim}
	r := Request{Doc: doc, Size: size, Owner: owner, Class: Upload}
	if err := p.run(ctx, r, task{Task: taskRunsheet, Runsheet: lim}, a); err != nil {
		return runsheet.Table{}, err
	}
	return runsheet.Table{Header: a.rows[0].Cells, Rows: a.rows[1:]}, nil
}

// runsheet reads the rows in the worker and sends them.
func (s *session) runsheet(doc io.ReaderAt, t task) error {
	raw, err := io.ReadAll(io.NewSectionReader(doc, 0, t.Size))
	if err != nil {
		return err
	}
	table, err := runsheet.Read(raw, t.Runsheet)
	if err != nil {
		return err
	}
	rows := slices.Insert(table.Rows, 0, runsheet.TableRow{Row: 1, Cells: table.Header})
	var frame []byte
	for n, row := range rows {
		encoded, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if len(encoded) > maxRowsFrame-rowsFrameTarget-2 {
			return runsheet.ErrTooLarge
		}
		if frame == nil {
			frame = append(frame, '[')
		} else {
			frame = append(frame, ',')
		}
		if frame = append(frame, encoded...); len(frame) < rowsFrameTarget && n < len(rows)-1 {
			continue
		}
		if err := s.write(frameRows, append(frame, ']')); err != nil {
			return err
		}
		frame = nil
	}
	return nil
}

// rowsResult collects the rows that a worker sends. Their values are checked like any other input
// for an instrument.
type rowsResult struct {
	lim      runsheet.Limits
	rows     []runsheet.TableRow // the header first
	received int
}

func (r *rowsResult) reset() { r.rows, r.received = nil, 0 }

func (r *rowsResult) add(kind byte, content []byte, _ bool) error {
	if kind != frameRows {
		return protocolError("frame %q while a runsheet is read", kind)
	}
	if r.received += len(content); r.received > maxRunsheetBytes {
		return protocolError("rows of %d bytes", r.received)
	}
	var rows []runsheet.TableRow
	if err := decode(content, &rows); err != nil {
		return err
	}
	if len(rows) == 0 || len(r.rows)+len(rows) > r.lim.Rows {
		return protocolError("%d rows", len(r.rows)+len(rows))
	}
	last := 0
	if n := len(r.rows); n > 0 {
		last = r.rows[n-1].Row
	}
	for _, row := range rows {
		if row.Row <= last || !row.Valid() {
			return protocolError("row %d after row %d", row.Row, last)
		}
		last = row.Row
	}
	r.rows = append(r.rows, rows...)
	return nil
}

func (r *rowsResult) finish(taskDone) error {
	if len(r.rows) == 0 || !runsheet.IsHeader(r.rows[0].Cells) {
		return protocolError("%d rows without a header", len(r.rows))
	}
	return nil
}
