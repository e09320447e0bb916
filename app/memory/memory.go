// Package memory reports how much memory processes use.
package memory

// Usage is the memory of a process, in bytes. It is zero if it is unknown, for example because the
// process has ended.
type Usage struct {
	Total     int64 // in RAM; what several processes share counts proportionally if the system reports that
	Anonymous int64 // the part of Total that the system can't free by reading a file again later
}

// Processes is the memory of all processes of a type.
type Processes struct {
	Type  string // such as "server"
	Count int
	Usage
}

// Add adds a process.
func (p *Processes) Add(u Usage) {
	p.Count++
	p.Total += u.Total
	p.Anonymous += u.Anonymous
}
