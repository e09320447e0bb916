//go:build !linux

package disk

// WriteBack does nothing, because this system has no such hint.
func (osFile) WriteBack(int64, int64) {}

func dropPageCache(uintptr) {}
