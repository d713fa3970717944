package clientaddr

import "strings"

// appendList appends the entries of a comma-separated line, rightmost first, until there are maxEntries. An empty entry
// is one too, and no address: who passed over it would come to what the client wrote.
func appendList(entries []string, line string) []string {
	for len(entries) < maxEntries {
		i := strings.LastIndexByte(line, ',')
		entries = append(entries, trimBlanks(line[i+1:]))
		if i < 0 {
			break
		}
		line = line[:i]
	}
	return entries
}

// maxForwarded bounds the bytes of a line of Forwarded, which has to be read from its left.
const maxForwarded = 8 << 10

// malformed stands for an entry that cannot be read. Like unknown and _names it is no address.
const malformed = "malformed"

// appendForwarded appends the for= values of a line of Forwarded (RFC 7239), rightmost first, until there are
// maxEntries. A line that breaks the grammar is one malformed entry: a quote that a client left open must not hide
// what a proxy has appended behind it.
func appendForwarded(entries []string, line string) []string {
	var buf [maxEntries]string
	elements, ok := parseForwarded(line, buf[:0])
	if !ok {
		elements = append(elements[:0], malformed)
	}
	for i := len(elements) - 1; i >= 0 && len(entries) < maxEntries; i-- {
		entries = append(entries, elements[i])
	}
	return entries
}

// parseForwarded appends the for= value of each element; one without it is malformed.
func parseForwarded(line string, elements []string) ([]string, bool) {
	if len(line) > maxForwarded {
		return elements, false
	}
	for rest, more := line, true; more; {
		var e string
		var ok bool
		if e, rest, more, ok = parseElement(rest); !ok || len(elements) == maxEntries {
			return elements, false
		}
		elements = append(elements, e)
	}
	return elements, true
}

// parseElement reads pairs up to a comma or the end. It returns the for= value, or malformed when there is none; the
// text after the comma; and whether there was one.
func parseElement(s string) (value, rest string, more, ok bool) {
	value = malformed
	for seen := false; ; {
		s = trimBlanks(s)
		switch {
		case s == "":
			return value, "", false, true
		case s[0] == ',':
			return value, s[1:], true, true
		case s[0] == ';':
			s = s[1:]
			continue
		}
		var name, v string
		if name, v, s, ok = parsePair(s); !ok {
			return "", "", false, false
		}
		switch {
		case !strings.EqualFold(name, "for"):
		case seen:
			return "", "", false, false // two of them: whose word counts?
		default:
			value, seen = v, true
		}
		if s = trimBlanks(s); s != "" && s[0] != ';' && s[0] != ',' {
			return "", "", false, false
		}
	}
}

// parsePair reads name=value, where the value is a token, which may hold the : [ and ] that some proxies leave
// unquoted, or a quoted string.
func parsePair(s string) (name, value, rest string, ok bool) {
	name, s, ok = strings.Cut(s, "=")
	if !ok || !IsToken(name) {
		return "", "", "", false
	}
	if s != "" && s[0] == '"' {
		value, rest, ok = parseQuoted(s[1:])
		return name, value, rest, ok
	}
	end := 0
	for end < len(s) && (isTokenByte(s[end]) || strings.IndexByte(":[]", s[end]) >= 0) {
		end++
	}
	return name, s[:end], s[end:], end > 0
}

// parseQuoted reads what follows an opening quote.
func parseQuoted(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			if b.Len() == 0 && strings.IndexByte(s[:i], '\\') < 0 {
				return s[:i], s[i+1:], true
			}
			return b.String(), s[i+1:], true
		case '\\':
			if b.Len() == 0 {
				b.WriteString(s[:i])
			}
			if i++; i == len(s) {
				return "", "", false
			}
			b.WriteByte(s[i])
		default:
			if b.Len() > 0 {
				b.WriteByte(s[i])
			}
		}
	}
	return "", "", false
}

// trimBlanks cuts the blanks that lists may have around their members.
func trimBlanks(s string) string { return strings.Trim(s, " \t") }

// IsToken says whether s is a token of RFC 9110, as names of headers and cookies are.
func IsToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
