package jobs

// Outcomes are the values of the processing counter: the document was processed, it
// can't be processed, it is retried later, or it was deleted during processing.
var Outcomes = []string{outcomeDone, outcomeFailed, outcomePostponed, outcomeGone}

const (
	outcomeDone      = "done"
	outcomeFailed    = "failed"
	outcomePostponed = "postponed"
	outcomeGone      = "gone"
)

// OutcomeCounts returns how many processing runs had each of Outcomes.
func (p *Processor) OutcomeCounts() map[string]uint64 { return p.outcomes.Read() }

func (p *Processor) count(postponed, gone bool, failure string) {
	switch {
	case postponed:
		p.outcomes.Add(outcomePostponed)
	case gone:
		p.outcomes.Add(outcomeGone)
	case failure != "":
		p.outcomes.Add(outcomeFailed)
	default:
		p.outcomes.Add(outcomeDone)
	}
}
