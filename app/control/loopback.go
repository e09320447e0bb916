package control

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// The loopback flavor listens at 127.0.0.1 and leaves DATA/control.json, 0600, whole from its first moment and gone
// after Close:
//
//	{"port": 49231, "token": "<64 lower-case hex digits>"}
//
// A server that was killed leaves the file behind, and its port may soon be another program's. So the first thing on
// every connection is a proof (proof.go), before any request and the token in it are sent.
const (
	noteName = "control.json"
	noteMax  = 4096
)

type note struct {
	Port  int    `json:"port"`
	Token string `json:"token"`
}

// loopback is the flavor for Windows.
type loopback struct{}

func (loopback) token(dataDir string) (string, error) {
	note, err := readNote(dataDir)
	return note.Token, err
}

func (loopback) dial(ctx context.Context, dataDir string) (net.Conn, error) {
	note, err := readNote(dataDir)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(note.Port))
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err == nil {
		err = askProof(ctx, conn, note.Token)
	}
	if err == nil {
		return conn, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("dial the control port: %w", ctx.Err())
	}
	// Refused, silent or a stranger: whoever wrote the note is gone.
	return nil, fmt.Errorf("%w (%s at %s: %w)", ErrNobody, noteName, address, err)
}

func (l loopback) open(dataDir string, chance io.Reader) (*Door, error) {
	conn, err := l.dial(context.Background(), dataDir) // askProof has a time limit of its own.
	if err == nil {
		return nil, errors.Join(fmt.Errorf("%w (%s)", ErrInUse, filepath.Join(dataDir, noteName)), conn.Close())
	}
	if !errors.Is(err, ErrNobody) {
		return nil, err
	}
	var raw [32]byte
	if _, err := io.ReadFull(chance, raw[:]); err != nil {
		return nil, fmt.Errorf("draw the control token: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the control port: %w", err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("open the control port: %s is no TCP address", listener.Addr()), listener.Close())
	}
	token := hex.EncodeToString(raw[:])
	if err := writeNote(dataDir, note{Port: address.Port, Token: token}); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &Door{Listener: &loopbackListener{Listener: listener, dataDir: dataDir, token: token}, Token: token}, nil
}

// readNote wraps ErrNobody when there is no note, and when what is there cannot have been written by a server.
func readNote(dataDir string) (note, error) {
	path := filepath.Join(dataDir, noteName)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return note{}, fmt.Errorf("%w (no %s)", ErrNobody, path)
	}
	if err != nil {
		return note{}, fmt.Errorf("read the control note: %w", err)
	}
	defer func() { _ = file.Close() }() // Nothing was written.
	text, err := io.ReadAll(io.LimitReader(file, noteMax))
	if err != nil {
		return note{}, fmt.Errorf("read the control note: %w", err)
	}
	parsed, ok := parseNote(text)
	if !ok {
		return note{}, fmt.Errorf("%w (%s is damaged)", ErrNobody, path)
	}
	return parsed, nil
}

func parseNote(text []byte) (note, bool) {
	var parsed note
	if json.Unmarshal(text, &parsed) != nil {
		return note{}, false
	}
	raw, err := hex.DecodeString(parsed.Token)
	if err != nil || len(raw) != 32 || parsed.Port < 1 || parsed.Port > 65535 {
		return note{}, false
	}
	return parsed, true
}

// writeNote moves a finished file into place, so that nobody reads half of one.
func writeNote(dataDir string, content note) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write the control note: %w", err)
	}
	temp, err := os.CreateTemp(dataDir, "."+noteName+"-*") // 0600
	if err != nil {
		return fmt.Errorf("write the control note: %w", err)
	}
	_, err = temp.Write(append(text, '\n'))
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dataDir, noteName))
	}
	if err != nil {
		return fmt.Errorf("write the control note: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// loopbackListener gives out connections that prove themselves, and removes its note when closed.
type loopbackListener struct {
	net.Listener
	dataDir, token string
	closed         sync.Once
}

func (l *loopbackListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &provingConn{Conn: conn, token: l.token}, nil
}

func (l *loopbackListener) Close() error {
	err := net.ErrClosed
	l.closed.Do(func() {
		err = nil
		if note, noteErr := readNote(l.dataDir); noteErr == nil && note.Token == l.token {
			err = os.Remove(filepath.Join(l.dataDir, noteName))
		}
		err = errors.Join(err, l.Listener.Close())
	})
	return err
}
