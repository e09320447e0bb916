package blobstore

import (
	"os"

	"golang.org/x/sys/windows"
)

// stampOf reads the stamp of an open file: size, modification time, volume, and file
// index. Windows gives no change time here: a write that sets the modification time
// back is noticed when the verification expires.
func stampOf(f *os.File) (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	at := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	var raw windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &raw); err != nil {
		return stamp{}, err
	}
	at.device, at.file = uint64(raw.VolumeSerialNumber), uint64(raw.FileIndexHigh)<<32|uint64(raw.FileIndexLow)
	return at, nil
}
