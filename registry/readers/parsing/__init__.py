"""From bytes to lines, cells and objects: what the readers of many formats share."""
