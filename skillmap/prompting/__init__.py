"""Questions put into words for a model, and JSON read back out of its replies.

``templates`` reads prompt files, ``questions`` writes an item's text, ``item_calls``
puts benchmark items to a model, ``json_replies`` reads JSON however it is written,
``spoken`` leaves thought aside and ``structures`` states schemas. What the replies
mean is for ``annotation``, ``verification``, ``probing`` and ``extraction``; sending
calls is none of it. Nothing is imported here, so that ``templates`` and
``questions`` load without Polars.
"""
