package redisconn

import (
	"fmt"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/redisstore/internal/script"
)

// read fills into with what Redis answered. The texts share the memory of the answer.
func read(result rueidis.RedisResult, into *script.Reply) error {
	message, err := result.ToMessage()
	if err != nil {
		if text, _ := message.ToString(); text != "" { // the error's own text has lost its ERR
			return &ServerError{Text: text}
		}
		return fmt.Errorf("the script's reply is not an array: %w", err)
	}
	elements, err := message.ToArray()
	if err != nil {
		return fmt.Errorf("the script's reply is not an array: %w", err)
	}
	for i := range elements {
		element := &elements[i]
		if element.IsInt64() {
			n, _ := element.ToInt64()
			into.Ints = append(into.Ints, n)
			continue
		}
		text, err := element.ToString()
		if _, refused := rueidis.IsRedisErr(err); err != nil && !refused {
			into.Clear()
			return fmt.Errorf("element %d of the script's reply is not an integer or a text: %w", i, err)
		}
		into.Texts = append(into.Texts, text)
	}
	return nil
}
