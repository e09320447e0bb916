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

	"deedkeep/app/durable"
)

// The loopback transport listens at 127.0.0.1. It creates DATA/control.json atomically with mode 0600, and removes
// it on Close:
//
//	{"port": 49231, "token": "<64 lower-case hex digits>"}
//
// A server that was killed leaves the file in place, and another program may get its port. So the server must prove on
// every connection that it knows the token (handshake.go) before the client sends a request, which contains the token.
const (
	portFileName = "control.json"
	maxPortFile  = 4096
)

type portFile struct {
	Port  int    `json:"port"`
	Token string `json:"token"`
}

// loopback is the transport for Windows.
type loopback struct{}

func (loopback) token(dataDir string) (string, error) {
	note, err := readPortFile(dataDir)
	return note.Token, err
}

func (loopback) dial(ctx context.Context, dataDir string) (net.Conn, error) {
	note, err := readPortFile(dataDir)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(note.Port))
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err == nil {
		err = verifyServer(ctx, conn, note.Token)
	}
	if err == nil {
		return conn, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("connect to control port: %w", ctx.Err())
	}
	// The port is closed, doesn't respond, or belongs to another program, so the server that wrote the file is no
	// longer running.
	return nil, fmt.Errorf("%w (%s at %s: %w)", ErrNoServer, portFileName, address, err)
}

func (l loopback) listen(dataDir string, rand io.Reader) (*Listener, error) {
	conn, err := l.dial(context.Background(), dataDir) // verifyServer has its own time limit
	if err == nil {
		return nil, errors.Join(fmt.Errorf("%w (%s)", ErrInUse, filepath.Join(dataDir, portFileName)), conn.Close())
	}
	if !errors.Is(err, ErrNoServer) {
		return nil, err
	}
	var raw [32]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		return nil, fmt.Errorf("create control token: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open control port: %w", err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("open control port: %s is not a TCP address", listener.Addr()), listener.Close())
	}
	token := hex.EncodeToString(raw[:])
	if err := writePortFile(dataDir, portFile{Port: address.Port, Token: token}); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &Listener{Listener: &loopbackListener{Listener: listener, dataDir: dataDir, token: token}, Token: token}, nil
}

// readPortFile returns an error that wraps ErrNoServer if there is no port file or it is damaged.
func readPortFile(dataDir string) (portFile, error) {
	path := filepath.Join(dataDir, portFileName)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return portFile{}, fmt.Errorf("%w (%s doesn't exist)", ErrNoServer, path)
	}
	if err != nil {
		return portFile{}, fmt.Errorf("read control port file: %w", err)
	}
	defer func() { _ = file.Close() }() // the file was only read
	text, err := io.ReadAll(io.LimitReader(file, maxPortFile))
	if err != nil {
		return portFile{}, fmt.Errorf("read control port file: %w", err)
	}
	parsed, ok := parsePortFile(text)
	if !ok {
		return portFile{}, fmt.Errorf("%w (%s is damaged)", ErrNoServer, path)
	}
	return parsed, nil
}

func parsePortFile(text []byte) (portFile, bool) {
	var parsed portFile
	if json.Unmarshal(text, &parsed) != nil {
		return portFile{}, false
	}
	raw, err := hex.DecodeString(parsed.Token)
	if err != nil || len(raw) != 32 || parsed.Port < 1 || parsed.Port > 65535 {
		return portFile{}, false
	}
	return parsed, true
}

// writePortFile creates the port file atomically, so readers never see a partial file.
func writePortFile(dataDir string, content portFile) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write control port file: %w", err)
	}
	if err := durable.WriteFile(filepath.Join(dataDir, portFileName), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write control port file: %w", err)
	}
	return nil
}

// loopbackListener accepts connections that perform the handshake. It removes its port file when it is closed.
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
		if note, noteErr := readPortFile(l.dataDir); noteErr == nil && note.Token == l.token {
			err = os.Remove(filepath.Join(l.dataDir, portFileName))
		}
		err = errors.Join(err, l.Listener.Close())
	})
	return err
}
