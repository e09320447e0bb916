package blobstore

import (
	"os"

	"golang.org/x/sys/windows"
)

// fileStampOf returns the stamp of an open file: size, modification time, volume, and
// file index. It has no change time. If a write sets the modification time back, it goes
// unnoticed until the verification expires.
func fileStampOf(f *os.File) (fileStamp, error) {
	info, err := f.Stat()
	if err != nil {
		return fileStamp{}, err
	}
	at := fileStamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	var raw windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &raw); err != nil {
		return fileStamp{}, err
	}
	at.device, at.file = uint64(raw.VolumeSerialNumber), uint64(raw.FileIndexHigh)<<32|uint64(raw.FileIndexLow)
	return at, nil
}
