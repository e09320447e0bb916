package disk

import (
	"os"

	"golang.org/x/sys/windows"

	"deedkeep/app/blob"
)

// stateOf returns the state of an open file: size, modification time, volume, and
// file index. It has no change time. If a write sets the modification time back, it goes
// unnoticed until the verification expires.
func stateOf(f *os.File) (blob.State, error) {
	info, err := f.Stat()
	if err != nil {
		return blob.State{}, err
	}
	at := blob.State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	var raw windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &raw); err != nil {
		return blob.State{}, err
	}
	at.Version = [3]uint64{uint64(raw.VolumeSerialNumber), uint64(raw.FileIndexHigh)<<32 | uint64(raw.FileIndexLow)}
	return at, nil
}
