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

// Every loopback connection starts with this handshake:
//
//	client   32 random bytes
//	server   32 bytes: HMAC-SHA256(token, the bytes of the client)
const (
	proofSize  = sha256.Size
	proofLimit = 3 * time.Second
)

var errOtherProgram = errors.New("another program uses this port")

func serverProof(token string, challenge []byte) []byte {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write(challenge)
	return mac.Sum(nil)
}

// verifyServer closes conn unless the server proves within proofLimit that it knows the token.
func verifyServer(ctx context.Context, conn net.Conn, token string) error {
	limit, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	stop := context.AfterFunc(limit, func() { _ = conn.Close() }) // the read below then returns an error
	err := exchangeProof(conn, token)
	if !stop() && err == nil {
		err = context.Cause(limit)
	}
	if err != nil {
		_ = conn.Close() // already closed if the limit was exceeded
	}
	return err
}

func exchangeProof(conn net.Conn, token string) error {
	var challenge, response [proofSize]byte
	if _, err := rand.Read(challenge[:]); err != nil { // no injected randomness is needed, because the challenge only has to be unique
		return err
	}
	if _, err := conn.Write(challenge[:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, response[:]); err != nil {
		return err
	}
	if !hmac.Equal(response[:], serverProof(token, challenge[:])) {
		return errOtherProgram
	}
	return nil
}

// provingConn performs the server's part of the handshake in the first Read. At that point, the server's deadlines
// apply and other connections don't have to wait.
type provingConn struct {
	net.Conn
	token string
	once  sync.Once
	err   error
}

func (c *provingConn) Read(p []byte) (int, error) {
	c.once.Do(func() {
		var challenge [proofSize]byte
		if _, c.err = io.ReadFull(c.Conn, challenge[:]); c.err == nil {
			_, c.err = c.Conn.Write(serverProof(c.token, challenge[:]))
		}
	})
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(p)
}
