package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Node is what CLUSTER NODES says about a node.
type Node struct {
	ID, Addr string
	Flags    []string
	Master   string // its ID, or "-"
	Epoch    int64
	Slots    []Range
}

// Range is slots that follow each other.
type Range struct{ First, Last int }

// Is tells whether the node has a flag, such as "master", "myself" or "fail".
func (n *Node) Is(flag string) bool { return slices.Contains(n.Flags, flag) }

// Has tells whether the node serves a slot.
func (n *Node) Has(slot int) bool {
	return slices.ContainsFunc(n.Slots, func(r Range) bool { return r.First <= slot && slot <= r.Last })
}

// View is what a node says about the cluster.
type View []Node

// Myself is the node that says so.
func (v View) Myself() Node {
	return v.find(func(n *Node) bool { return n.Is("myself") })
}

// At is the node with an address. Its ID is empty if there is none.
func (v View) At(addr string) Node {
	return v.find(func(n *Node) bool { return n.Addr == addr })
}

// Named is the node with an ID. Its ID is empty if there is none.
func (v View) Named(id string) Node {
	return v.find(func(n *Node) bool { return n.ID == id })
}

func (v View) find(ok func(*Node) bool) Node {
	for i := range v {
		if ok(&v[i]) {
			return v[i]
		}
	}
	return Node{}
}

// Parse reads the reply of CLUSTER NODES.
func Parse(reply string) (View, error) {
	var nodes View
	for line := range strings.Lines(reply) {
		n, err := parseNode(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("topology: %q: %w", line, err)
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// parseNode reads "id host:port@bus[,name] flags master ping pong epoch link [slot|slot-slot|[open slot]] ...".
func parseNode(fields []string) (Node, error) {
	const known = 8
	if len(fields) < known {
		return Node{}, fmt.Errorf("%d fields, not %d or more", len(fields), known)
	}
	n := Node{ID: fields[0], Flags: strings.Split(fields[2], ","), Master: fields[3]}
	n.Addr, _, _ = strings.Cut(fields[1], "@")
	var err error
	if n.Epoch, err = strconv.ParseInt(fields[6], 10, 64); err != nil {
		return Node{}, err
	}
	for _, text := range fields[known:] {
		if strings.HasPrefix(text, "[") { // on its way to or from another node
			continue
		}
		first, last, ok := strings.Cut(text, "-")
		if !ok {
			last = first
		}
		var r Range
		if r.First, err = strconv.Atoi(first); err != nil {
			return Node{}, err
		}
		if r.Last, err = strconv.Atoi(last); err != nil {
			return Node{}, err
		}
		n.Slots = append(n.Slots, r)
	}
	return n, nil
}
