package control

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// The proof at the beginning of a loopback connection:
//
//	caller   32 bytes, new for each connection
//	server   32 bytes: HMAC-SHA256(token, what the caller sent)
const (
	proofSize  = sha256.Size
	proofLimit = 3 * time.Second
)

var errOtherProgram = errors.New("another program listens there")

func serverProof(token string, question []byte) []byte {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write(question)
	return mac.Sum(nil)
}

// verifyServer closes conn unless the server at its other end knows the token and says so in time.
func verifyServer(ctx context.Context, conn net.Conn, token string) error {
	limit, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	stop := context.AfterFunc(limit, func() { _ = conn.Close() }) // The read below reports it.
	err := exchangeProof(conn, token)
	if !stop() && err == nil {
		err = context.Cause(limit)
	}
	if err != nil {
		_ = conn.Close() // Closed already when the time was over.
	}
	return err
}

func exchangeProof(conn net.Conn, token string) error {
	var question, answer [proofSize]byte
	if _, err := rand.Read(question[:]); err != nil { // Only has to differ: no reproducible chance is wanted here.
		return err
	}
	if _, err := conn.Write(question[:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if !hmac.Equal(answer[:], serverProof(token, question[:])) {
		return errOtherProgram
	}
	return nil
}

// provingConn answers the caller's question within the first Read, where the server's deadlines hold and no other
// connection waits for it.
type provingConn struct {
	net.Conn
	token string
	once  sync.Once
	err   error
}

func (c *provingConn) Read(p []byte) (int, error) {
	c.once.Do(func() {
		var question [proofSize]byte
		if _, c.err = io.ReadFull(c.Conn, question[:]); c.err == nil {
			_, c.err = c.Conn.Write(serverProof(c.token, question[:]))
		}
	})
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(p)
}
