package service

import (
	"log/slog"
	"os"

	"github.com/coreos/go-systemd/v22/daemon"
)

// A Notifier tells the service manager what state the server is in. Without one that waits for it, its
// methods do nothing. The zero value is ready to use.
type Notifier struct {
	Log *slog.Logger // gets errors; may be nil
	// OnReady is called, too, if the server is ready; may be nil.
	OnReady func()
}

// Ready says that the server accepts requests at an address.
func (n Notifier) Ready(address string) {
	n.send(daemon.SdNotifyReady + "\nSTATUS=listening on " + address)
	if n.OnReady != nil {
		n.OnReady()
	}
}

// Restarting says that the server stops and starts in the same process. Ready has to follow.
func (n Notifier) Restarting() {
	n.send(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec() + "STATUS=restarting with changed settings")
}

// Stopping says that the server ends.
func (n Notifier) Stopping() { n.send(daemon.SdNotifyStopping + "\nSTATUS=stopping") }

func (n Notifier) send(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil && n.Log != nil {
		n.Log.Warn("can't notify the service manager", "socket", os.Getenv("NOTIFY_SOCKET"), "error", err)
	}
}
