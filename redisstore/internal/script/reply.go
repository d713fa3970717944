package script

// Reply is what a script returned: an array whose elements are integers, then texts. A runner fills the one it is
// given and may reuse its memory.
type Reply struct {
	// Ints are the integers in their order.
	Ints []int64
	// Texts are the strings and errors among the elements, in their order.
	Texts []string
}

// Clear empties the reply and keeps its memory.
func (r *Reply) Clear() { r.Ints, r.Texts = r.Ints[:0], r.Texts[:0] }
